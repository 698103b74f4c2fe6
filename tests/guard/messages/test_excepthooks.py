"""Errors that nobody catches are explained before they are printed, wherever that is."""

import multiprocessing
import multiprocessing.process
import subprocess
import sys
import textwrap
import threading
import traceback
import types
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.multiprocessing
from torch import nn

import runtime_guard
from runtime_guard.messages import excepthooks as _excepthooks
from runtime_guard.messages.excepthooks import Explained, Explanations
from runtime_guard.messages.explain import _add, notes_of
from runtime_guard.messages.message import HEAD
from runtime_guard.patch import Link

PLACES = (
    (sys, "excepthook"),
    (threading, "excepthook"),
    (multiprocessing.process.BaseProcess, "start"),
    (multiprocessing.process.BaseProcess, "_bootstrap"),
)


def mix():
    there = torch.ones(2, device="meta")
    return there + torch.ones(2)


def error_of(function) -> Exception:
    with pytest.raises(RuntimeError) as caught:
        function()
    return caught.value


def said_by(error: BaseException) -> str:
    """All that a traceback ends with; in Python 3.10 the note is a part of the text."""
    return "\n".join([str(error), *notes_of(error)])


@pytest.fixture
def printed(monkeypatch):
    """What an excepthook that was there before us was called with."""
    seen = []
    monkeypatch.setattr(sys, "excepthook", lambda *raised: seen.append(raised[1]))
    return seen


def uncaught(error):
    sys.excepthook(type(error), error, error.__traceback__)


def test_an_uncaught_error_is_explained_before_it_is_printed(printed):
    with Explanations():
        uncaught(error_of(mix))
    assert HEAD in said_by(printed[0])


def test_any_other_error_is_passed_on_as_it_is(printed):
    with Explanations():
        uncaught(ValueError("other"))
    assert HEAD not in said_by(printed[0])


def test_nothing_stays_changed():
    before = [vars(holder)[name] for holder, name in PLACES]
    handle = runtime_guard.explain()
    changed = [vars(holder)[name] for holder, name in PLACES]
    assert all(new is not old for new, old in zip(changed, before, strict=True))
    handle.remove()
    handle.remove()
    assert [vars(holder)[name] for holder, name in PLACES] == before


def test_attaching_twice_is_attaching_once():
    before = sys.excepthook
    handle = Explanations()
    handle.attach()
    ours = sys.excepthook
    handle.attach()
    assert sys.excepthook is ours
    handle.remove()
    assert sys.excepthook is before


def test_handles_may_be_removed_in_any_order(printed):
    before = sys.excepthook
    first, second, third = (Explanations().attach() for _ in range(3))
    second.remove()
    first.remove()
    uncaught(error_of(mix))
    assert len(printed) == 1
    assert said_by(printed[0]).count(HEAD) == 1
    third.remove()
    assert sys.excepthook is before


def test_a_hook_that_the_user_sets_later_stays(printed):
    handle = Explanations().attach()
    ours = sys.excepthook
    later = []

    def hook(kind, error, trace):
        later.append(error)
        ours(kind, error, trace)

    sys.excepthook = hook
    handle.remove()
    assert sys.excepthook is hook
    uncaught(error_of(mix))
    assert len(later) == len(printed) == 1
    assert HEAD not in said_by(printed[0])  # Our link is idle, and still passes on.


def test_an_error_that_leaves_a_decorated_function_is_explained():
    decorated = Explanations()(mix)
    before = sys.excepthook
    assert HEAD in said_by(error_of(decorated))
    assert sys.excepthook is before


def test_an_error_of_a_thread_is_explained(monkeypatch):
    seen: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", lambda raised: seen.append(raised.exc_value))
    with Explanations():
        thread = threading.Thread(target=mix)
        thread.start()
        thread.join()
    assert HEAD in said_by(seen[0])


def test_a_thread_that_ended_without_a_value_is_passed_on(monkeypatch):
    seen: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", seen.append)
    with Explanations():
        threading.excepthook(threading.ExceptHookArgs((KeyError, None, None, None)))
    assert seen[0].exc_value is None


@pytest.fixture
def guarded():
    """A model that a guard refuses to run on what it is given."""
    handle = runtime_guard.install(meta=True)
    yield lambda: nn.Linear(4, 4).to("meta")(torch.ones(2, 4))
    handle.remove()


def frames_of_ours(error: BaseException) -> list[str]:
    package = str(Path(runtime_guard.__file__).parent)
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    return [file for file in files if file.startswith(package)]


def test_what_is_printed_has_no_frames_of_ours(monkeypatch, guarded):
    seen: list[Any] = []
    monkeypatch.setattr(sys, "excepthook", lambda *raised: seen.append(raised))
    with Explanations():
        error = raised_by(guarded)
        assert frames_of_ours(error)
        uncaught(error)
    ((_, printed, shown),) = seen
    assert shown is printed.__traceback__
    assert shown is not None
    assert not frames_of_ours(printed)


def raised_by(function) -> BaseException:
    with pytest.raises(runtime_guard.DeviceMismatchError) as caught:
        function()
    return caught.value


def test_so_it_is_in_threads(monkeypatch, guarded):
    seen: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", seen.append)
    with Explanations():
        thread = threading.Thread(target=guarded)
        thread.start()
        thread.join()
    assert isinstance(seen[0].exc_value, runtime_guard.DeviceMismatchError)
    assert seen[0].exc_traceback is seen[0].exc_value.__traceback__
    assert seen[0].thread is thread
    assert not frames_of_ours(seen[0].exc_value)


def test_so_it_is_in_processes_and_ranks(guarded, capfd):
    with Explanations():
        child = multiprocessing.get_context("fork").Process(target=guarded)
        child.start()
        child.join()
        with pytest.raises(torch.multiprocessing.ProcessRaisedException) as caught:
            torch.multiprocessing.start_processes(
                fail_under_a_guard, (guarded,), nprocs=1, start_method="fork"
            )
    # Python 3.10 raises again with the traceback as it was caught: our own frame stays its first.
    ours = 0 if sys.version_info >= (3, 11) else 1
    for printed in (capfd.readouterr().err, str(caught.value)):
        assert "DeviceMismatchError: Linear has" in printed
        assert printed.count(str(Path(runtime_guard.__file__).parent)) <= ours


def fail_under_a_guard(rank, call):
    call()


def fail_as_rank(rank):
    mix()


def test_a_spawned_process_sends_its_explanation_with_its_traceback():
    with Explanations(), pytest.raises(torch.multiprocessing.ProcessRaisedException) as caught:
        torch.multiprocessing.start_processes(fail_as_rank, nprocs=1, start_method="fork")
    message = str(caught.value)
    assert message.count(HEAD) == 1
    assert "to fix it:" in message
    assert notes_of(caught.value) == []


def test_in_a_new_interpreter_the_explanation_is_there_too(tmp_path):
    (tmp_path / "main.py").write_text(
        textwrap.dedent("""
            import torch
            import torch.multiprocessing
            import runtime_guard

            def main(rank):
                x, y = torch.ones(2, device="meta"), torch.ones(2)
                x + y

            if __name__ == "__main__":
                runtime_guard.explain()
                torch.multiprocessing.spawn(main)
        """)
    )
    ran = subprocess.run(
        [sys.executable, "main.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1
    assert f"{HEAD}main() has" in ran.stderr
    assert ran.stderr.count(HEAD) == 1


class Worker(multiprocessing.get_context("fork").Process):  # type: ignore[misc]
    def run(self):
        mix()


@pytest.mark.parametrize(
    "process",
    [lambda: multiprocessing.get_context("fork").Process(target=mix), Worker],
    ids=["target", "run"],
)
def test_a_process_prints_the_explanation_with_its_traceback(process, capfd):
    with Explanations():
        child = process()
        child.start()
        child.join()
    assert child.exitcode == 1
    printed = capfd.readouterr().err
    assert printed.count(HEAD) == 1
    assert printed.index("RuntimeError: Tensor on device") < printed.index(HEAD)


def test_a_process_that_ends_well_is_as_it_was(capfd):
    with Explanations():
        child = multiprocessing.get_context("fork").Process(target=print, args=("done",))
        child.start()
        child.join()
    assert child.exitcode == 0
    assert capfd.readouterr().err == ""


def test_what_a_process_runs_is_wrapped_once():
    process = types.SimpleNamespace(_target=mix, start=list)
    for _ in range(2):
        _excepthooks._start_explained(lambda process: None, process)
    assert isinstance(process._target, Explained)
    assert process._target.function is mix


def test_a_cell_of_a_notebook_shows_the_explanation(monkeypatch, capsys):
    interactive = pytest.importorskip("IPython.core.interactiveshell")
    shell = interactive.InteractiveShell(colors="nocolor")
    monkeypatch.setattr(sys.modules["IPython"], "get_ipython", lambda: shell)
    handle = Explanations().attach()
    try:
        shell.run_cell("import torch\na, b = torch.ones(2, device='meta'), torch.ones(2)")
        shell.run_cell("c = a + b", store_history=True)
    finally:
        handle.remove()
    shown = capsys.readouterr().out
    assert f"{HEAD}this line has variable 'a' on meta, but variable 'b' is on cpu" in shown
    assert "failed at:  Cell In[1]:1: c = a + b" in shown
    assert "showtraceback" not in vars(shell)
    shell.run_cell("c = a + b")
    assert HEAD not in capsys.readouterr().out


def test_the_shell_shows_an_error_that_it_is_given(monkeypatch, capsys):
    interactive = pytest.importorskip("IPython.core.interactiveshell")
    shell = interactive.InteractiveShell(colors="nocolor")
    monkeypatch.setattr(sys.modules["IPython"], "get_ipython", lambda: shell)
    error = error_of(mix)
    with Explanations():
        shell.showtraceback((type(error), error, error.__traceback__))
    assert HEAD in capsys.readouterr().out


def test_a_call_of_a_module_is_the_same_as_before():
    before = nn.Module.__call__, nn.Module._call_impl
    model = nn.Linear(2, 2)
    with Explanations():
        assert (nn.Module.__call__, nn.Module._call_impl) == before
        assert not model._forward_pre_hooks
        assert not nn.modules.module._global_forward_pre_hooks


def test_it_needs_no_torch_until_there_is_an_error():
    code = (
        "import sys, runtime_guard; runtime_guard.explain();"
        "sys.excepthook(ValueError, ValueError('other'), None);"
        "assert 'torch' not in sys.modules"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == "ValueError: other\n"


class Old:
    """An exception of Python 3.10 has no `add_note`."""

    def __init__(self, *args):
        self.args = args


def test_before_python_3_11_the_text_goes_on_with_the_note():
    error: Any = Old("the text of torch")
    _add(error, f"{HEAD}a note")
    assert error.args == (f"the text of torch\n{HEAD}a note",)


def test_before_python_3_11_other_arguments_stay_and_the_hook_prints_the_note(
    monkeypatch, capsys, printed
):
    error: Any = Old("the text of torch", 3)
    _add(error, f"{HEAD}a note")
    assert error.args == ("the text of torch", 3)
    assert notes_of(error) == [f"{HEAD}a note"]
    older: Any = RuntimeError("the text of torch", 3)
    older.__notes__ = notes_of(error)
    with Explanations():
        monkeypatch.setattr(_excepthooks, "sys", _Python310(sys))
        sys.excepthook(RuntimeError, older, None)
    assert printed == [older]
    assert capsys.readouterr().err == f"{HEAD}a note\n"


class _Python310:
    version_info = (3, 10, 0)

    def __init__(self, module):
        self._module = module

    def __getattr__(self, name):
        return getattr(self._module, name)


def test_a_link_gives_an_instance_back_what_its_class_has():
    class Shell:
        def show(self, word):
            return word

    shell = Shell()
    link = Link(shell, "show", lambda previous, word: previous(word.upper()))
    assert shell.show("a") == "A"
    link.remove()
    assert shell.show("a") == "a"
    assert vars(shell) == {}

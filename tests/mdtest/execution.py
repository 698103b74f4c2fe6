"""Executes a `py run` block on the virtual GPU: torch must object where the page says."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from tests.mdtest.expectations import Expectation
from tests.mdtest.forgiving import FORGIVE, REACH, forgiving, statements
from tests.mdtest.page import Run

A_RUN = Run()
OBJECTIONS = (RuntimeError, TypeError, ValueError, AttributeError, AssertionError)
"""What torch raises about devices; a NameError is no finding's."""
_DEVICE = re.compile(r"\b(?:cpu|cuda|mps|xpu|device)|no attribute 'to'", re.IGNORECASE)
_QUOTED = re.compile(r"'(\w+)'(?!.*')")


@dataclass(frozen=True)
class Difference:
    """A line that did not do when executed what the page says of it."""

    line: int
    expected: str
    actual: str


class Execution:
    """One run of a block.

    Attributes:
        raised: by marked line, the first error that its statement raised.
        revealed: by line, the devices of what `reveal_device` was given, and what was said of it
            that is so.
        reached: the lines of the statements that it came to.
        failure: the line and the text of the error that ended the run; None where none did.
    """

    def __init__(self, announced: Iterable[Expectation] = ()) -> None:
        self.raised: dict[int, BaseException] = {}
        self.revealed: dict[int, list[tuple[str, frozenset[str]]]] = {}
        self.reached: set[int] = set()
        self.failure: tuple[int, str] | None = None
        self._lost: set[str] = set()
        self._incomplete: set[FrameType] = set()
        self._known: list[BaseException] = []
        self._said: dict[int, list[str]] = {}
        for one in announced:
            if one.kind == "revealed":
                self._said.setdefault(one.line, []).append(one.message or "")

    def forgive(self, own: range, marks: tuple[int, ...], names: tuple[str, ...]) -> bool:
        """Whether the error that is handled was expected of these lines, or follows from one."""
        _, error, frames = sys.exc_info()
        assert error is not None
        assert frames is not None
        if frames.tb_lineno not in own:
            return False
        if marks and isinstance(error, OBJECTIONS):
            for line in marks:
                self.raised.setdefault(line, error)
        elif not self._follows(error, frames.tb_frame):
            return False
        self._known.append(error)
        self._lost.update(names)
        self._incomplete.add(frames.tb_frame)
        return True

    def _follows(self, error: BaseException, frame: FrameType) -> bool:
        """Whether it is an error noted further in, or comes of what one has left undone.

        That is the want of a name, or anything but devices in a function that went on.
        """
        if any(error is known for known in self._known):
            return True
        if isinstance(error, (NameError, AttributeError)):
            wanted = _QUOTED.search(str(error))
            return wanted is not None and wanted[1] in self._lost
        went_on = frame in self._incomplete and frame.f_code.co_name != "<module>"
        return went_on and not _names_a_device(error)

    def reveal(self, value: Any) -> Any:
        from tests.mdtest.revealing import devices_of, is_met

        frame = sys._getframe(1)
        met = [one for one in self._said.get(frame.f_lineno, ()) if is_met(one, value, frame)]
        found = " and ".join(sorted(devices_of(value))) or "nowhere"
        self.revealed.setdefault(frame.f_lineno, []).append((found, frozenset(met)))
        return value


def differences(
    code: str, path: str, expectations: Iterable[Expectation], run: Run = A_RUN
) -> Iterator[Difference]:
    """Where the block, executed, does something else than its page announces."""
    announced = [one for one in expectations if not one.todo]
    if not announced:
        yield from _not_innocent(code, path, run)
        return
    done = execute(code, path, run, announced)
    where = machine(run.devices)
    yield from _ended(done, where)
    for line in sorted({one.line for one in announced} - done.reached):
        yield Difference(line, f"is reached {where}", "nothing comes to this line")
    for one in raising_in(announced, run):
        error = done.raised.get(one.line)
        if error is None:
            yield Difference(one.line, f"raises {where}", "nothing is raised")
        elif not _objects(error, one):
            expected = str(one) if one.kind == "raises" else f"an error about devices {where}"
            yield Difference(one.line, expected, f"{type(error).__name__}: {error}")
    yield from _misplaced(done, announced, where)
    if not run.devices:
        yield from _ended(execute(code, path, replace(run, devices=2)), machine(2))


def _not_innocent(code: str, path: str, tagged: Run) -> Iterator[Difference]:
    """Why the silence about a block proves nothing: it fails somewhere, or is not reached."""
    unreached = set(statements(code))
    machines = (tagged.devices,) if tagged.alone else (0, 2)
    for devices in machines:
        done = execute(code, path, replace(tagged, devices=devices))
        yield from _ended(done, machine(devices))
        unreached -= done.reached if done.failure is None else unreached
    for line in sorted(unreached):
        yield Difference(line, "is reached on some machine", "nothing comes to this line")


def _ended(done: Execution, where: str) -> Iterator[Difference]:
    if done.failure is not None:
        yield Difference(done.failure[0], f"runs {where}", done.failure[1])


def _objects(error: BaseException, one: Expectation) -> bool:
    """Whether an error is the one announced: it has the words, or else names a device."""
    if one.kind == "raises" and one.message:
        return one.message in str(error)
    return _names_a_device(error)


def _names_a_device(error: BaseException) -> bool:
    return _DEVICE.search(str(error)) is not None


def _misplaced(
    done: Execution, announced: Iterable[Expectation], where: str
) -> Iterator[Difference]:
    said: dict[int, list[Expectation]] = {}
    for one in announced:
        if one.kind == "revealed":
            said.setdefault(one.line, []).append(one)
    for line, marks in said.items():
        expected = f"{' '.join(map(str, marks))} {where}"
        for found, met in done.revealed.get(line, ()):
            if not met:
                yield Difference(line, expected, found)


def machine(devices: int) -> str:
    """The words for a machine with so many devices."""
    return f"on {devices} virtual devices" if devices else "without an accelerator"


def raising_in(announced: Iterable[Expectation], run: Run) -> list[Expectation]:
    """The lines that raise: those marked `# raises`, or else where an error is found.

    Without an accelerator a warning counts like an error: it says what fails there.
    """
    marked = tuple(announced)
    if any(one.is_of_torch for one in marked):
        return [one for one in marked if one.kind == "raises"]
    kinds = ("error",) if run.devices else ("error", "warning")
    return [one for one in marked if one.kind in kinds]


def execute(
    code: str, path: str, run: Run = A_RUN, announced: Sequence[Expectation] = ()
) -> Execution:
    """Run code as a script, and what others do before and with it.

    A statement on a line that raises is noted, and the run goes on after it.
    """
    done = Execution(announced)
    tree = forgiving(f"{code}\n{run.then}", {one.line for one in raising_in(announced, run)})
    script = ModuleType("__main__")
    vars(script)[FORGIVE], vars(script)[REACH] = done.forgive, done.reached.update
    vars(script)["reveal_device"] = done.reveal
    with _as_a_script(script, path, run):
        try:
            exec(compile(tree, path, "exec"), vars(script))
        except SystemExit:
            pass
        except Exception as error:  # noqa: BLE001 - whatever ends it is a difference
            done.failure = (_line(error, path), f"{type(error).__name__}: {error}")
    return done


def _line(error: BaseException, path: str) -> int:
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno or 1 for frame in frames if frame.filename == path]
    return lines[-1] if lines else 1


@contextlib.contextmanager
def _as_a_script(script: ModuleType, path: str, run: Run) -> Iterator[None]:
    """A folder, arguments and environment of its own, nothing printed."""
    import devicelint
    from runtime_guard import virtual_gpu

    with ExitStack() as stack:
        stack.enter_context(_in_a_folder())
        stack.callback(_restore_environment, dict(os.environ))
        stack.callback(sys.modules.__setitem__, "__main__", sys.modules["__main__"])
        sys.modules["__main__"] = script
        stack.enter_context(_exchanged(sys, "argv", [path, *run.arguments]))
        stack.enter_context(_exchanged(sys, "stdin", io.StringIO()))
        stack.enter_context(_exchanged(devicelint, "reveal_device", script.reveal_device))
        stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        stack.enter_context(contextlib.redirect_stderr(io.StringIO()))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        stack.enter_context(_settings_of_torch())
        stack.callback(_forget_accelerators)
        if run.before:
            with virtual_gpu(2):
                exec(compile(run.before, "before.py", "exec"), vars(ModuleType("__main__")))
        if run.devices:
            stack.enter_context(virtual_gpu(run.devices))
        yield


@contextlib.contextmanager
def _in_a_folder() -> Iterator[None]:
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


@contextlib.contextmanager
def _exchanged(holder: Any, name: str, value: Any) -> Iterator[None]:
    before = getattr(holder, name)
    setattr(holder, name, value)
    try:
        yield
    finally:
        setattr(holder, name, before)


def _restore_environment(before: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(before)


def _forget_accelerators() -> None:
    """Forget the device that accelerate chose, which it keeps for as long as a process lives."""
    if "accelerate.state" in sys.modules:
        for name in ("AcceleratorState", "GradientState", "PartialState"):
            getattr(sys.modules["accelerate.state"], name)._reset_state()


@contextlib.contextmanager
def _settings_of_torch() -> Iterator[None]:
    """torch's own settings as they were, whatever the script made of them."""
    import torch

    generator, dtype = torch.get_rng_state(), torch.get_default_dtype()
    torch.manual_seed(0)
    try:
        with torch.set_grad_enabled(True):
            yield
    finally:
        torch.set_rng_state(generator)
        torch.set_default_dtype(dtype)
        torch.set_default_device(None)

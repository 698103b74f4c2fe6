from __future__ import annotations

import json
from typing import Any, get_args

import pytest
import torch
from torch import nn

from runtime_guard import DeviceMismatchWarning, guard
from runtime_guard.integrations import pytest_plugin
from runtime_guard.settings import Action, Settings

MODEL = """
import pytest
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(4, 8, bias=False)
        self.head = nn.Linear(8, 2, bias=False)

    def forward(self, rows):
        return self.head(self.encoder(rows))

def right():
    return Net()(torch.ones(3, 4))

def wrong():
    return Net()(torch.ones(3, 4, device="meta"))

def is_guarded():
    return hasattr(nn.Module.__call__, "__wrapped__")
"""

META = "pytestmark = pytest.mark.device_guard(meta=True)"


@pytest.fixture(scope="module", autouse=True)
def _what_the_inner_runs_import():
    """pytester forgets what an inner run was first to import, and torch bears no second import."""
    model = nn.Linear(4, 2, bias=False)
    with guard(model, action="warn", meta=True), pytest.warns(DeviceMismatchWarning):
        model(torch.ones(3, 4, device="meta"))
    with pytest.raises(TypeError, match="numpy") as caught:
        torch.ones(1, device="meta").numpy()
    with pytest_plugin.Watch("raise", Settings()) as watch:
        watch.explain(caught.value)
    torch.optim.SGD(model.parameters(), lr=0.1).step()


@pytest.fixture
def run(pytester, monkeypatch):
    """Runs tests that may use `Net`, in this process."""
    # The others that are installed take half a second to import again in each run.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def run_tests(tests: str, *options: str) -> Any:
        pytester.makepyfile(test_net=f"{MODEL}\n{tests}")
        return pytester.runpytest_inprocess("-pruntime_guard.pytest_plugin", "-Wdefault", *options)

    return run_tests


def test_the_option_takes_every_action_of_a_guard():
    assert get_args(Action) == pytest_plugin.ACTIONS


def test_a_run_is_not_guarded_unasked(run):
    result = run("def test_it():\n    right()\n    assert not is_guarded()")
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*device guard*")


def test_the_option_guards_every_test(run):
    result = run("def test_it():\n    right()\n    assert is_guarded()", "--device-guard")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["device guard: raise"])
    assert not hasattr(nn.Module.__call__, "__wrapped__")


def test_a_mismatch_makes_the_test_fail_with_module_argument_and_lines(run):
    result = run(f"{META}\ndef test_it():\n    wrong()", "--device-guard")
    result.assert_outcomes(failed=1)
    result.stdout.re_match_lines(
        [
            r"E .*DeviceMismatchError: .*encoder \(Linear\).*",
            r"E .*input.*meta.*",
            r"E .*return self\.head\(self\.encoder\(rows\)\)",
            r"E .*return Net\(\)\(torch\.ones\(3, 4, device=.meta.\)\)",
        ],
        consecutive=False,
    )


# The move makes the head right as well.
@pytest.mark.parametrize(("action", "places"), [("warn", 2), ("move", 1)])
def test_what_makes_no_test_fail_is_told_in_the_summary(run, action, places):
    tests = """
@pytest.mark.parametrize("time", [1, 2, 3])
def test_wrong(time):
    Net().to("meta")(torch.ones(3, 4))

def test_right():
    right()
"""
    result = run(f"{META}\n{tests}", f"--device-guard={action}")
    result.assert_outcomes(passed=4, warnings=3 * places)
    lines = result.outlines
    told = lines[lines.index(next(line for line in lines if "= device guard =" in line)) :]
    assert told[1] == "test_net.py::test_wrong[1] and 2 more"
    assert sum("encoder (Linear)" in line for line in told) == 1
    assert not any("test_right" in line for line in told)


def test_the_ini_option_does_as_the_option_which_counts_more(run, pytester):
    pytester.makeini("[pytest]\ndevice_guard = warn")
    result = run("def test_it():\n    assert is_guarded()")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["device guard: warn"])
    result = run("def test_it():\n    assert not is_guarded()", "--device-guard=off")
    result.assert_outcomes(passed=1)


def test_an_action_that_is_none_is_refused(run, pytester):
    result = run("def test_it(): pass", "--device-guard=rise")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--device-guard: 'rise' is none of raise, warn, move, explain*"])
    pytester.makeini("[pytest]\ndevice_guard = rise")
    result = run("def test_it(): pass")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*ini option device_guard: 'rise' is none of raise*"])


@pytest.mark.parametrize("marker", ["False", "'off'", "'explain'", "action=False"])
def test_a_marker_takes_a_test_out(run, marker):
    tests = f"@pytest.mark.device_guard({marker})\ndef test_it():\n    assert not is_guarded()"
    run(tests, "--device-guard").assert_outcomes(passed=1)


def test_a_marker_guards_its_test_alone_and_the_nearest_counts(run):
    tests = """
@pytest.mark.device_guard(False)
class TestIt:
    @pytest.mark.device_guard(meta=True)
    def test_nearest(self):
        with pytest.raises(RuntimeError, match="encoder"):
            wrong()

    def test_outer(self):
        assert not is_guarded()

@pytest.mark.device_guard("move", meta=True)
def test_moved():
    assert Net().to("meta")(torch.ones(3, 4)).device.type == "meta"

def test_unmarked():
    assert not is_guarded()
"""
    run(tests, "-Wignore", "--strict-markers").assert_outcomes(passed=4)


def test_the_options_of_a_marker_reach_the_guard(run):
    tests = """
@pytest.mark.device_guard(meta=True, steps=1)
def test_steps():
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(torch.ones(3, 4)).sum().backward()
    optimizer.step()
    wrong()

@pytest.mark.device_guard(meta=True, skip=["encoder", "head"])
def test_skip():
    wrong()

@pytest.mark.device_guard(meta=True, only="head")
def test_only():
    with pytest.raises(RuntimeError, match="head"):
        wrong()
"""
    run(tests).assert_outcomes(passed=3)


@pytest.mark.parametrize(
    ("marker", "reason"),
    [
        ("'rise'", "action is 'rise': expected one of raise, warn, move, explain, off"),
        ("steps=0", "steps is 0: expected a whole number, 1 or more"),
        ("stepz=1", "device_guard() got an unexpected keyword argument 'stepz'"),
        ("'warn', 3", "device_guard() takes from 0 to 1 positional arguments but 2 were given"),
        ("[]", "action is []: expected one of raise, warn, move, explain, off"),
    ],
)
def test_a_marker_that_makes_no_sense_is_refused_before_any_test_runs(run, marker, reason):
    tests = f"def test_first(): pass\n@pytest.mark.device_guard({marker})\ndef test_it(): pass"
    result = run(tests)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    expected = f"ERROR: test_net.py::test_it: marker device_guard: {reason}"
    # Python 3.13 goes on with "Did you mean 'steps'?".
    assert any(line.startswith(expected) for line in result.errlines)
    result = run(tests, "--deselect=test_net.py::test_it")
    result.assert_outcomes(passed=1, deselected=1)


def test_a_marker_that_makes_no_sense_fails_its_test_where_collecting_cannot(run, pytester):
    # As in a worker of xdist, which has no words for the end of a session.
    pytester.makeconftest("def pytest_configure(config): config.workerinput = {}")
    result = run("@pytest.mark.device_guard(steps=0)\ndef test_it(): pass\ndef test_other(): pass")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["marker device_guard: steps is 0: expected a whole number*"])


def test_the_fixture_guards_models_until_the_end_of_the_test(run):
    tests = """
model = Net()

def hooks():
    return sum(len(module._forward_pre_hooks) for module in model.modules())

def test_raise(device_guard):
    watch = device_guard(model, meta=True)
    assert watch.attached
    assert hooks() > 0
    with pytest.raises(RuntimeError, match="encoder"):
        model(torch.ones(3, 4, device="meta"))

def test_after():
    assert hooks() == 0

def test_warn(device_guard):
    device_guard(model, action="warn", meta=True, only="encoder")
    with pytest.warns(UserWarning, match="encoder"):
        model(torch.ones(3, 4, device="meta"))
"""
    result = run(tests)
    result.assert_outcomes(passed=3)
    told = "\n".join(result.outlines).partition("= device guard =")[2]
    assert "test_net.py::test_warn" in told
    assert "encoder (Linear)" in told
    assert "test_raise" not in told


def test_no_model_is_kept_after_its_test(run):
    tests = """
import gc
import weakref

models = []

@pytest.mark.device_guard
def test_first(device_guard):
    model = Net()
    device_guard(model)(right)()
    models.append(weakref.ref(model))

def test_then():
    gc.collect()
    assert [reference() for reference in models] == [None]
"""
    run(tests).assert_outcomes(passed=2)


MIXES = """
def test_it():
    rows = torch.ones(3, 4, device="meta")
    rows.numpy()
"""


@pytest.mark.parametrize("options", [["--device-guard=explain"], ["--device-guard"]])
@pytest.mark.parametrize("style", ["long", "short", "native"])
def test_an_error_of_torch_is_explained_where_pytest_shows_it(run, options, style):
    result = run(MIXES, *options, f"--tb={style}")
    result.assert_outcomes(failed=1)
    result.stdout.re_match_lines(
        [r".*TypeError: can't convert meta device type tensor to numpy.*", r".*rows.*meta.*"]
    )


def test_an_error_of_torch_stays_bare_in_a_run_that_is_not_guarded(run):
    run(MIXES, "--device-guard=explain").stdout.fnmatch_lines(["E*to fix it:*rows.cpu()*"])
    run(MIXES).stdout.no_fnmatch_line("*to fix it:*")


def test_an_error_in_a_unittest_case_or_a_fixture_is_explained(run):
    tests = """
import unittest

def mix():
    rows = torch.ones(3, device="meta")
    rows.numpy()

class TestCase(unittest.TestCase):
    def test_it(self):
        mix()

@pytest.fixture
def broken():
    mix()

def test_setup(broken):
    pass
"""
    bare = run(tests, "--tb=short")
    bare.assert_outcomes(failed=1, errors=1)
    explained = run(tests, "--tb=short", "--device-guard=explain")
    explained.assert_outcomes(failed=1, errors=1)
    for start in ("_ ERROR at setup", "_ TestCase.test_it"):
        assert len(section(explained.outlines, start)) > len(section(bare.outlines, start))


def section(lines: list[str], start: str) -> list[str]:
    first = next(index for index, line in enumerate(lines) if start in line)
    last = next(i for i, line in enumerate(lines[first + 1 :], first + 1) if line[:1] in "_=")
    return lines[first:last]


def test_setup_and_teardown_are_guarded_too(run):
    tests = f"""
{META}

@pytest.fixture
def early():
    wrong()

@pytest.fixture
def late():
    yield
    wrong()

def test_setup(early): pass

def test_teardown(late): pass
"""
    run(tests, "--device-guard").assert_outcomes(passed=1, errors=2)


def test_what_was_found_travels_with_the_report_of_a_worker(run, pytester, monkeypatch):
    reports: list[pytest.TestReport] = []
    real = pytest_plugin.GuardedRun.pytest_runtest_logreport

    def sent(self: Any, report: Any) -> None:
        received = pytest.TestReport._from_json(json.loads(json.dumps(report._to_json())))
        reports.append(received)
        real(self, received)

    monkeypatch.setattr(pytest_plugin.GuardedRun, "pytest_runtest_logreport", sent)
    result = run(
        f"{META}\ndef test_it():\n    Net().to('meta')(torch.ones(3, 4))", "--device-guard=move"
    )
    result.assert_outcomes(passed=1, warnings=1)
    assert [report.when for report in reports] == ["setup", "call", "teardown"]
    assert "encoder (Linear)" in "\n".join(result.outlines).partition("= device guard =")[2]


LATE = """
import sys

import pytest

def test_no_torch():
    assert not {"torch", "rich"} & sys.modules.keys()

@pytest.mark.device_guard(meta=True)
def test_torch_at_last():
    import torch
    from torch import nn
    with pytest.raises(RuntimeError, match="Linear"):
        nn.Linear(4, 2)(torch.ones(3, 4, device="meta"))

def test_guarded_from_the_start():
    from torch import nn
    assert hasattr(nn.Module.__call__, "__wrapped__")

@pytest.mark.device_guard(False)
def test_nothing_is_left():
    from torch import nn
    assert not hasattr(nn.Module.__call__, "__wrapped__")
    assert not [finder for finder in sys.meta_path if "runtime_guard" in type(finder).__module__]
    assert not {"ignite", "lightning", "skorch", "transformers"} & sys.modules.keys()
"""


def test_torch_is_not_imported_and_guarded_when_a_test_imports_it(pytester):
    pytester.makepyfile(LATE)
    result = pytester.runpytest_subprocess("--device-guard", "-p", "no:hypothesispytest")
    result.assert_outcomes(passed=4)

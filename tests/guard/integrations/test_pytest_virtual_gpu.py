"""`pytest --virtual-gpu`: for which tests the devices are there, when, and what a failure says."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
import torch

import runtime_guard
from runtime_guard.integrations import pytest_virtual_gpu
from runtime_guard.settings import VirtualMachine

TESTS = """
import os
import pytest
import torch
from torch import nn

from runtime_guard.virtual.devices.machine import _machines

def devices():
    return [str(each) for machine in _machines for each in machine.devices]

def mix():
    model = nn.Linear(4, 2).cuda()
    rows = torch.ones(3, 4)
    model(rows)
"""

ADDMM = "*RuntimeError: *got mat1 is on cpu*tensors on cuda:0*wrapper_CUDA_addmm*"
MEANS = "*Linear has parameter 'weight' on cuda:0, but argument 'input' is on cpu"


pytestmark = pytest.mark.usefixtures("what_inner_runs_import")


@pytest.fixture
def run(pytester, monkeypatch):
    """Runs tests in this process."""
    # The others that are installed take half a second to import again in each run.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def run_tests(tests: str, *options: str) -> Any:
        pytester.makepyfile(test_it=f"{TESTS}\n{tests}")
        return pytester.runpytest_inprocess("-pruntime_guard.pytest_plugin", *options)

    return run_tests


def test_a_run_finds_the_machine_that_there_is_unasked(run):
    result = run("def test_it():\n    assert devices() == []")
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*virtual GPU*")


@pytest.mark.parametrize(
    ("options", "devices", "header"),
    [
        (["--virtual-gpu"], ["cuda:0"], "1 x cuda"),
        (["--virtual-gpu", "2"], ["cuda:0", "cuda:1"], "2 x cuda"),
        (["--virtual-gpu=1", "--virtual-gpu-name=mps"], ["mps:0"], "1 x mps"),
        (["--virtual-gpu", "--virtual-gpu-memory", "0.5"], ["cuda:0"], "1 x cuda with 0.5 GB"),
    ],
)
def test_the_option_gives_every_test_its_devices(run, options, devices, header):
    result = run(f"def test_it():\n    assert devices() == {devices}", *options)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([f"virtual GPU: {header}"])


def test_the_ini_options_do_as_the_options_which_count_more(run, pytester):
    pytester.makeini("[pytest]\nvirtual_gpu = 1\nvirtual_gpu_name = xpu")
    test = "def test_it():\n    assert devices() == "
    run(f"{test}['xpu:0']").assert_outcomes(passed=1)
    run(f"{test}['xpu:0', 'xpu:1']", "--virtual-gpu=2").assert_outcomes(passed=1)
    run(f"{test}['cuda:0']", "--virtual-gpu-name=cuda").assert_outcomes(passed=1)
    run(f"{test}[]", "--virtual-gpu=0").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("options", "ini", "message"),
    [
        (["--virtual-gpu", "test_it.py"], "", "*'test_it.py' is no number of devices: write --v*"),
        (["--virtual-gpu=-1"], "", "*'-1' is no number of devices*"),
        (["--virtual-gpu-name=mps"], "", "ERROR: --virtual-gpu-name says nothing without --virt*"),
        (
            ["--virtual-gpu", "--virtual-gpu-name=hip"],
            "",
            "ERROR: --virtual-gpu-name is 'hip': expected one of cuda, mps, xpu",
        ),
        (
            ["--virtual-gpu", "--virtual-gpu-memory=x"],
            "",
            "ERROR: --virtual-gpu-memory is 'x': expected a number of gigabytes, above 0",
        ),
        ([], "two", "ERROR: ini option virtual_gpu is 'two': expected a number of devices, or 0*"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(run, pytester, options, ini, message):
    pytester.makeini(f"[pytest]\nvirtual_gpu = {ini}")
    result = run("def test_it(): pass", *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([message])


def test_modules_of_tests_and_fixtures_find_the_devices_of_the_run_when_they_are_imported(
    run, pytester
):
    pytester.makeconftest("import torch\nSEEN = torch.cuda.device_count()")
    tests = """
from conftest import SEEN

HERE = torch.device("cuda" if torch.cuda.is_available() else "cpu")

@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two GPUs")
@pytest.mark.parametrize("rows", [torch.ones(2, device=HERE)])
def test_it(rows):
    assert SEEN == 2
    assert str(rows.device) == "cuda:0"
"""
    run(tests, "--virtual-gpu=2").assert_outcomes(passed=1)
    assert not torch.cuda.is_available()


def test_a_marker_counts_more_than_the_run_and_the_nearest_most(run):
    tests = """
@pytest.mark.virtual_gpu(2)
class TestIt:
    def test_outer(self):
        assert devices() == ["cuda:0", "cuda:1"]

    @pytest.mark.virtual_gpu(name="xpu", memory_gb=1)
    def test_nearest(self):
        assert devices() == ["xpu:0"]
        assert torch.xpu.get_device_properties(0).total_memory == 2**30

    @pytest.mark.virtual_gpu(False)
    def test_none(self):
        assert devices() == []

@pytest.mark.virtual_gpu
def test_bare():
    assert devices() == ["cuda:0"]

def test_unmarked():
    assert devices() == []
"""
    run(tests, "--strict-markers").assert_outcomes(passed=5)


def test_a_bare_marker_takes_the_machine_of_the_run(run):
    tests = "@pytest.mark.virtual_gpu\ndef test_it():\n    assert devices() == ['mps:0']"
    run(tests, "--virtual-gpu", "--virtual-gpu-name=mps").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("marker", "reason"),
    [
        ("-1", "count is -1: expected a whole number, 1 or more"),
        ("1, 'hip'", "name is 'hip': expected one of 'cuda', 'mps', 'xpu'"),
        ("memory_gb=0", "memory_gb is 0: expected a number above 0"),
        ("cuont=1", "virtual_gpu() got an unexpected keyword argument 'cuont'"),
    ],
)
def test_a_marker_that_makes_no_sense_is_refused_before_any_test_runs(run, marker, reason):
    tests = f"def test_first(): pass\n@pytest.mark.virtual_gpu({marker})\ndef test_it(): pass"
    result = run(tests)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    expected = f"ERROR: test_it.py::test_it: marker virtual_gpu: {reason}"
    # Python 3.13 goes on with "Did you mean 'count'?".
    assert any(line.startswith(expected) for line in result.errlines)


def test_the_marker_takes_what_the_block_takes():
    marker = inspect.signature(pytest_virtual_gpu.virtual_gpu).parameters
    block = inspect.signature(runtime_guard.virtual_gpu).parameters
    assert [(each.name, each.default) for each in marker.values()] == [
        (each.name, each.default) for each in block.values()
    ]
    assert pytest_virtual_gpu.virtual_gpu(True) == VirtualMachine()


def test_the_fixture_is_what_the_test_runs_on(run):
    tests = """
@pytest.fixture
def model():
    return nn.Linear(2, 2).cuda()

def test_one(model, virtual_gpu):
    assert (virtual_gpu.count, virtual_gpu.name) == (1, "cuda")
    assert model.weight.device == virtual_gpu.devices[0]

@pytest.mark.virtual_gpu(2)
def test_as_marked(virtual_gpu):
    assert devices() == [str(each) for each in virtual_gpu.devices] == ["cuda:0", "cuda:1"]

@pytest.mark.usefixtures("virtual_gpu")
def test_unseen():
    assert devices() == ["cuda:0"]

def test_late(request):
    assert devices() == []
    gpu = request.getfixturevalue("virtual_gpu")
    assert devices() == ["cuda:0"] == [str(each) for each in gpu.devices]

def test_then():
    assert devices() == []
"""
    run(tests).assert_outcomes(passed=5)


def test_the_devices_are_there_from_setup_to_teardown_and_gone_in_between(run):
    tests = """
import unittest
SEEN = []

@pytest.fixture
def early_and_late():
    SEEN.append(("setup", *devices()))
    yield
    SEEN.append(("teardown", *devices()))

@pytest.mark.virtual_gpu
def test_marked(early_and_late):
    SEEN.append(("call", *devices()))

def test_between():
    assert SEEN == [("setup", "cuda:0"), ("call", "cuda:0"), ("teardown", "cuda:0")]
    assert not torch.cuda.is_available()
    assert torch.ones(1).to("cpu").device.type == "cpu"
    assert "RUNTIME_GUARD_VIRTUAL_GPU" not in os.environ

@pytest.mark.virtual_gpu(2)
class TestCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.seen = devices()

    def setUp(self):
        self.rows = torch.ones(2).to("cuda:1")

    def test_it(self):
        assert str(self.rows.device) == "cuda:1"
        assert self.seen == ["cuda:0", "cuda:1"]

    def tearDown(self):
        assert len(devices()) == 2
"""
    run(tests).assert_outcomes(passed=3)


@pytest.mark.parametrize("style", ["short", "long", "native"])
def test_a_failure_says_what_cuda_says_and_what_it_means(run, style):
    result = run("def test_it():\n    mix()", "--virtual-gpu", f"--tb={style}")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([ADDMM, MEANS, "*input: *float32?3, 4? on cpu", "*to fix it:*"])
    result.stdout.no_fnmatch_line("*runtime_guard?_virtual*")


def test_so_do_one_in_a_unittest_case_one_in_a_fixture_and_one_that_leaves_a_block(run):
    tests = """
import unittest
import runtime_guard

@pytest.mark.virtual_gpu
class TestCase(unittest.TestCase):
    def test_it(self):
        mix()

@pytest.fixture
def broken():
    mix()

@pytest.mark.virtual_gpu
def test_setup(broken):
    pass

def test_block():
    with runtime_guard.virtual_gpu():
        mix()
"""
    result = run(tests, "--tb=short")
    result.assert_outcomes(failed=2, errors=1)
    # In CI the summary repeats what the reports say.
    reported = [line for line in result.outlines if line.startswith("E ")]
    assert sum("on cuda:0, but argument 'input' is on cpu" in line for line in reported) == 3


def test_a_guard_sees_the_virtual_devices(run):
    tests = """
@pytest.mark.virtual_gpu
@pytest.mark.device_guard("move")
def test_moved():
    model = nn.Linear(4, 2).cuda()
    assert str(model(torch.ones(3, 4)).device) == "cuda:0"

def test_raised(virtual_gpu, device_guard):
    model = nn.Linear(4, 2).to(virtual_gpu.devices[0])
    device_guard(model)
    model(torch.ones(3, 4))
"""
    result = run(tests, "-Wignore")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*DeviceMismatchError: Linear has parameter 'weight' on cuda:0*"])
    told = "\n".join(result.outlines).partition("= device guard =")[2]
    assert "test_it.py::test_moved" in told
    assert "on cuda:0, but argument 'input' is on cpu" in told


LATE = """
import sys

import pytest

def test_no_torch():
    assert "torch" not in sys.modules

@pytest.mark.virtual_gpu(2)
def test_torch_at_last():
    from torch import nn
    assert str(nn.Linear(2, 2).cuda(1).weight.device) == "cuda:1"

def test_there_from_the_start():
    import torch
    assert str(torch.ones(2).cuda().device) == "cuda:0"

def test_by_fixture(virtual_gpu):
    assert virtual_gpu.count == 1

@pytest.mark.virtual_gpu(False)
def test_nothing_is_left():
    from runtime_guard.virtual.devices.machine import is_active
    assert not is_active()
    assert not [finder for finder in sys.meta_path if "runtime_guard" in type(finder).__module__]
"""


def test_torch_is_not_imported_and_the_devices_are_there_when_a_test_imports_it(pytester):
    pytester.makepyfile(LATE)
    result = pytester.runpytest_subprocess("--virtual-gpu", "-p", "no:hypothesispytest")
    result.assert_outcomes(passed=5)

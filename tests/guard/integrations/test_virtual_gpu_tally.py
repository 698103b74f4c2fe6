"""What `pytest --virtual-gpu` says at its end, and what stays from one test to the next."""

from __future__ import annotations

import json
from typing import Any

import pytest
import torch

MET = """
import pytest
import torch

def test_of_the_cpu():
    torch.ones(2) + 1

def test_of_a_device():
    torch.ones(2).cuda()

def test_that_mixes():
    torch.ones(2).cuda() + torch.ones(2)

def test_that_fails_otherwise():
    assert torch.ones(2).cuda().sum() == 3

@pytest.mark.skip
def test_skipped():
    pass

def test_of_what_is_not_modelled():
    graph = torch.cuda.CUDAGraph()
    for _ in range(2):
        with torch.cuda.graph(graph):
            pass
"""

SUMMARY = "virtual GPU: 3 of 6 tests used a device, 1 failed with a device error, 1 thing is not *"


pytestmark = pytest.mark.usefixtures("what_inner_runs_import")


@pytest.fixture
def run(pytester, monkeypatch):
    """Runs tests in this process."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def run_tests(tests: str, *options: str) -> Any:
        pytester.makepyfile(test_it=tests)
        return pytester.runpytest_inprocess(
            "-pruntime_guard.pytest_plugin", "-Wignore::UserWarning", *options
        )

    return run_tests


def test_a_run_says_what_it_met(run, pytester):
    result = run(MET, "--virtual-gpu=1", "--virtual-gpu-report=met.json")
    result.stdout.fnmatch_lines([SUMMARY])
    assert json.loads((pytester.path / "met.json").read_text("utf-8")) == {
        "machine": "1 x cuda",
        "tests": 6,
        "used_a_device": 3,
        "device_errors": [
            {
                "test": "test_it.py::test_that_mixes",
                "error": "Expected all tensors to be on the same device, but found at least two "
                "devices, cuda:0 and cpu!",
            }
        ],
        "not_modelled": [
            {"what": "CUDA graphs are not modelled: what is captured runs at once", "count": 2}
        ],
    }


def test_so_do_workers_together(pytester):
    pytester.makepyfile(test_it=MET)
    options = ("-n2", "--virtual-gpu=1", "--virtual-gpu-report=met.json", "-Wignore::UserWarning")
    result = pytester.runpytest_subprocess(*options)
    result.stdout.fnmatch_lines([SUMMARY])
    assert json.loads((pytester.path / "met.json").read_text("utf-8"))["tests"] == 6


def test_a_run_without_devices_says_nothing(run):
    result = run("def test_it(): pass")
    result.stdout.no_fnmatch_line("*virtual GPU*")


def test_a_report_into_no_folder_is_refused(run):
    result = run("def test_it(): pass", "--virtual-gpu=1", "--virtual-gpu-report=none/met.json")
    result.stderr.fnmatch_lines(["ERROR: --virtual-gpu-report: there is no folder */none"])
    assert result.ret == pytest.ExitCode.USAGE_ERROR


KEPT = """
import torch

held = []

def test_one():
    torch.cuda.set_device(1)
    torch.set_default_device("cuda")
    torch.cuda.set_sync_debug_mode("warn")
    held.append(torch.ones(256))
    assert torch.cuda.memory_allocated() > 0

def test_two():
    assert not torch.cuda.is_initialized()
    assert torch.cuda.current_device() == 0
    assert torch.cuda.memory_allocated() == torch.cuda.max_memory_allocated() == 0
    assert torch.ones(2).device.type == "cpu"
    assert torch.cuda.get_sync_debug_mode() == 0

def test_three():
    assert str(held[0].device) == "cuda:1"
    assert str((held[0] * 2).device) == "cuda:1"

def test_four():
    held.clear()
    assert torch.cuda.memory_allocated() == 0
"""


def test_each_test_finds_devices_on_which_nothing_lies(run):
    run(KEPT, "--virtual-gpu=2").assert_outcomes(passed=4)


PATCHES = """
import pytest
import torch

has_torch_function = []

def note():
    has_torch_function.append(torch.overrides.has_torch_function)

def test_one():
    note()

def test_two():
    note()

@pytest.mark.virtual_gpu(2)
def test_three():
    note()
    assert torch.cuda.device_count() == 2

@pytest.mark.virtual_gpu(False)
def test_four():
    note()
    assert not torch.cuda.is_available()

def test_five():
    one, two, three, four = has_torch_function
    assert one is two
    assert len({one, three, four}) == 3
    assert torch.cuda.device_count() == 1
"""


def test_torch_is_patched_anew_only_where_another_machine_is_asked_for(run):
    run(PATCHES, "--virtual-gpu=1").assert_outcomes(passed=5)
    assert not torch.cuda.is_available()

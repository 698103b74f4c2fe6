"""The machine that the checks run on: one with CUDA where there is one, else a virtual one."""

import os
from contextlib import nullcontext

import pytest
import torch

REAL_OR_VIRTUAL = os.environ.get("CONFORMANCE_MACHINE") or (
    "real" if torch.cuda.is_available() else "virtual"
)


def machine():
    """A context in which torch has CUDA devices; a real machine needs nothing of ours."""
    if REAL_OR_VIRTUAL == "real":
        return nullcontext()
    from runtime_guard import virtual_gpu

    return virtual_gpu(count=2)


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "departs(reason): the virtual GPU does otherwise, by decision; CUDA does this."
    )


def pytest_collection_modifyitems(items):
    for item in items:
        departure = item.get_closest_marker("departs")
        if departure and REAL_OR_VIRTUAL == "virtual":
            item.add_marker(pytest.mark.xfail(reason=departure.kwargs["reason"]))


@pytest.fixture(autouse=True)
def _machine():
    with machine():
        torch.manual_seed(0)
        yield


@pytest.fixture
def two_devices(_machine):
    """For what needs a second device; a real machine may have one alone."""
    if torch.cuda.device_count() < 2:
        pytest.skip("needs two CUDA devices")


def pytest_report_header():
    return f"conformance: {REAL_OR_VIRTUAL} CUDA devices, torch {torch.__version__}"

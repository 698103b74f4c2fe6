"""Namespaces: torch.accelerator, which is CUDA here."""

import pytest
import torch

from tests.conformance.given import GPU, each, gpu
from tests.conformance.texts import refused, version

ANSWERS = {
    "is_available": (lambda: torch.accelerator.is_available(), True),
    "current_accelerator": (lambda: torch.accelerator.current_accelerator(), torch.device("cuda")),
    "its type": (lambda: torch.accelerator.current_accelerator().type, "cuda"),
    "device_count": (
        lambda: torch.accelerator.device_count() == torch.cuda.device_count(),
        True,
    ),
    "current_device_index": (lambda: torch.accelerator.current_device_index(), 0),
    "synchronize": (lambda: torch.accelerator.synchronize(), None),
    "set_device_index": (lambda: torch.accelerator.set_device_index(0), None),
    "a tensor there": (
        lambda: torch.zeros(1, device=torch.accelerator.current_accelerator()).device,
        GPU,
    ),
    "a module there": (
        lambda: torch.nn.Linear(1, 1).to(torch.accelerator.current_accelerator()).weight.device,
        GPU,
    ),
    "the number of the current stream": (
        lambda: (
            torch.accelerator.current_stream().stream_id == torch.cuda.current_stream().stream_id
        ),
        True,
    ),
    "the current stream": (
        lambda: torch.accelerator.current_stream() == torch.accelerator.current_stream(),
        True,
    ),
    "the current stream, as torch.cuda has it": (
        lambda: torch.accelerator.current_stream() == torch.cuda.current_stream(),
        False,
    ),
    "the usual choice": (
        lambda: (
            torch.accelerator.current_accelerator().type
            if torch.accelerator.is_available()
            else "cpu"
        ),
        "cuda",
    ),
}


@each(ANSWERS)
def test_it_answers(row):
    ask, answer = row
    assert ask() == answer


def test_there_is_no_hundredth():
    refused(lambda: torch.accelerator.set_device_index(99), "invalid device ordinal")


@pytest.mark.skipif(version() < (2, 8), reason="newer than this torch")
def test_a_context_of_a_device(two_devices):
    with torch.accelerator.device_index(1):
        assert torch.cuda.current_device() == 1
        assert torch.zeros(1, device="cuda").device.index == 1
    assert torch.accelerator.current_device_index() == 0


def test_both_namespaces_know_of_one_current_device(two_devices):
    torch.accelerator.set_device_index(1)
    try:
        assert torch.cuda.current_device() == 1
    finally:
        torch.accelerator.set_device_index(0)
    assert torch.cuda.current_device() == 0


@pytest.mark.skipif(version() < (2, 9), reason="newer than this torch")
def test_memory_is_that_of_cuda():
    held = gpu(1024)
    assert torch.accelerator.memory_allocated() == torch.cuda.memory_allocated()
    assert held.numel() == 1024

"""Namespaces: memory. CUDA gives it out in blocks of 512 bytes."""

import gc

import pytest
import torch
from torch import nn

from tests.conformance.given import GPU, each, gpu
from tests.conformance.texts import refused

KIB = 1024


def grown(make):
    """By how many bytes the allocated memory grows while what is made is held."""
    gc.collect()
    before = torch.cuda.memory_allocated()
    held = make()
    after = torch.cuda.memory_allocated()
    assert held is not None
    return after - before


HELD = {
    "1024 floats": (lambda: torch.empty(1024, device="cuda"), 4 * KIB),
    "1024 doubles": (lambda: torch.empty(1024, dtype=torch.float64, device="cuda"), 8 * KIB),
    "1024 halves": (lambda: torch.empty(1024, dtype=torch.float16, device="cuda"), 2 * KIB),
    "a moved tensor": (lambda: torch.empty(1024).cuda(), 4 * KIB),
    "a copy": (lambda: [torch.empty(512, device="cuda").clone()], 2 * KIB),
    "a result": (lambda: torch.empty(512, device="cuda") + 1, 2 * KIB),
    "two tensors": (lambda: [torch.empty(128, device="cuda") for _ in range(2)], KIB),
    "a tensor and its view": (
        lambda: (lambda t: (t, t[0], t.view(-1)))(torch.empty(2, 128, device="cuda")),  # noqa: PLC3002
        KIB,
    ),
    "a view alone holds all": (lambda: torch.empty(1024, device="cuda")[:1], 4 * KIB),
    "an expanded tensor": (lambda: torch.empty(128, 1, device="cuda").expand(128, 100), 512),
    "a CPU tensor": (lambda: torch.empty(1024), 0),
    "a tensor that came back": (lambda: torch.empty(1024, device="cuda").cpu(), 0),
    "a module": (lambda: nn.Linear(128, 128, bias=False).cuda(), 64 * KIB),
    "nothing": (lambda: torch.empty(0, device="cuda"), 0),
}


@each(HELD)
def test_it_holds(row):
    make, size = row
    assert grown(make) == size


def test_a_small_tensor_holds_at_most_a_block():
    assert 4 <= grown(lambda: torch.empty(1, device="cuda")) <= 512


def test_memory_is_given_back():
    before = torch.cuda.memory_allocated()
    held = torch.empty(1024, device="cuda")
    del held
    assert torch.cuda.memory_allocated() == before


def test_a_moved_module_leaves_no_memory_behind():
    before = torch.cuda.memory_allocated()
    layer = nn.Linear(128, 128).cuda()
    layer.cpu()
    assert torch.cuda.memory_allocated() == before


def test_gradients_hold_memory_until_they_are_let_go():
    leaf = torch.ones(1024, device="cuda", requires_grad=True)
    before = torch.cuda.memory_allocated()
    leaf.sum().backward()
    assert torch.cuda.memory_allocated() == before + 4 * KIB
    leaf.grad = None
    assert torch.cuda.memory_allocated() == before


def test_what_a_graph_saves_holds_memory_until_backward():
    leaf = torch.ones(1024, device="cuda", requires_grad=True)
    before = torch.cuda.memory_allocated()
    result = leaf.exp().sum()
    assert torch.cuda.memory_allocated() >= before + 4 * KIB
    del result
    assert torch.cuda.memory_allocated() == before


def test_the_peak_is_remembered_until_it_is_reset():
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    held = torch.empty(64 * KIB, device="cuda")
    del held
    assert torch.cuda.max_memory_allocated() >= before + 256 * KIB
    torch.cuda.reset_peak_memory_stats()
    assert torch.cuda.max_memory_allocated() == torch.cuda.memory_allocated()


ANSWERS = {
    "reserved holds what is allocated": (
        lambda: torch.cuda.memory_reserved() >= torch.cuda.memory_allocated()
    ),
    "the most that was reserved": (
        lambda: torch.cuda.max_memory_reserved() >= torch.cuda.memory_reserved()
    ),
    "of a device": lambda: torch.cuda.memory_allocated(GPU) == torch.cuda.memory_allocated("cuda"),
    "statistics": (
        lambda: (
            torch.cuda.memory_stats()["allocated_bytes.all.current"]
            == torch.cuda.memory_allocated()
        )
    ),
    "statistics of the peak": (
        lambda: (
            torch.cuda.memory_stats()["allocated_bytes.all.peak"]
            == torch.cuda.max_memory_allocated()
        )
    ),
    "free and total": lambda: 0 < torch.cuda.mem_get_info()[0] <= torch.cuda.mem_get_info()[1],
    "the total is the device's": (
        lambda: torch.cuda.mem_get_info()[1] == torch.cuda.get_device_properties(0).total_memory
    ),
    "a summary": lambda: "CUDA" in torch.cuda.memory_summary(),
    "a short summary": lambda: isinstance(torch.cuda.memory_summary(abbreviated=True), str),
    "a snapshot": lambda: isinstance(torch.cuda.memory_snapshot(), list),
}


@pytest.mark.filterwarnings("ignore:virtual GPU")
@each(ANSWERS)
def test_it_answers(row):
    held = gpu(1)
    assert row()
    assert held.device == GPU


def test_what_is_too_large_is_refused():
    refused(
        lambda: torch.empty(2**50, dtype=torch.uint8, device="cuda"),
        "CUDA out of memory. Tried to allocate 1048576.00 GiB. GPU 0 has a total capacity of",
        torch.cuda.OutOfMemoryError,
    )


def test_running_out_is_a_runtime_error():
    assert issubclass(torch.cuda.OutOfMemoryError, RuntimeError)
    assert torch.cuda.OutOfMemoryError is torch.OutOfMemoryError


def test_after_running_out_there_is_room_again():
    with pytest.raises(torch.OutOfMemoryError):
        torch.empty(2**50, dtype=torch.uint8, device="cuda")
    assert gpu(2).device == GPU
    torch.cuda.empty_cache()
    assert (gpu(2) + 1).device == GPU

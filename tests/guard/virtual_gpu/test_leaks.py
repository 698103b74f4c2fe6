"""After a block torch is what it was before, and a block keeps nothing alive."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from runtime_guard import virtual_gpu
from tests.guard.left_behind import WAYS

GPU = torch.device("cuda:0")
CPU = torch.device("cpu")
ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def found() -> dict[str, list[str]]:
    """What each way leaves behind in a process where no block was before."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.guard.left_behind"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    left: dict[str, list[str]] = json.loads(done.stdout)
    return left


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_torch_is_what_it_was(way, found):
    assert found[way.__name__] == []


# What lives on the device, with the collector of cycles at rest.


@pytest.fixture
def no_collector() -> Iterator[None]:
    """Whatever goes away goes at once."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def allocated() -> int:
    return int(torch.cuda.memory_allocated())


def a_tensor() -> None:
    torch.ones(4, device="cuda")


def views() -> None:
    whole = torch.ones(4, 4, device="cuda")
    part = whole[0].view(2, 2).detach()
    del whole
    assert part.data.device == GPU


def a_move() -> None:
    torch.ones(4, requires_grad=True).cuda().sum().backward()


def a_training_step() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.BatchNorm1d(4)).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.ones(2, 4, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()


def hooks_of_tensors() -> None:
    weight = torch.ones(4, device="cuda", requires_grad=True)
    output = weight * 2
    output.register_hook(lambda gradient: gradient * 2)
    output.sum().backward()


def hooks_of_modules() -> None:
    model = nn.Linear(4, 4, device="cuda")
    model.register_full_backward_hook(lambda module, inputs, outputs: None)
    model(torch.ones(2, 4, device="cuda", requires_grad=True)).sum().backward()


class Twice(torch.autograd.Function):
    """Keeps its input for the way back."""

    @staticmethod
    def forward(ctx, value):
        ctx.save_for_backward(value)
        return value * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2


def a_function() -> None:
    weight = torch.ones(4, device="cuda", requires_grad=True)
    Twice.apply(weight).sum().backward()


def a_function_that_is_never_gone_back_through() -> None:
    weight = torch.ones(4, device="cuda", requires_grad=True)
    Twice.apply(weight)


def a_checkpoint() -> None:
    model = nn.Linear(4, 4, device="cuda")
    checkpoint(model, torch.ones(2, 4, device="cuda"), use_reentrant=False).sum().backward()


def a_refused_mix() -> None:
    with pytest.raises(RuntimeError, match="same device"):
        torch.ones(2, device="cuda") + torch.ones(2)


def a_copied_model() -> None:
    deepcopy(nn.Linear(4, 4, device="cuda"))


@pytest.mark.parametrize(
    "work",
    [
        a_tensor,
        views,
        a_move,
        a_training_step,
        hooks_of_tensors,
        hooks_of_modules,
        a_function,
        a_function_that_is_never_gone_back_through,
        a_checkpoint,
        a_copied_model,
    ],
)
def test_what_is_dropped_is_gone_at_once(work: Callable[[], None], no_collector):
    with virtual_gpu():
        work()
        assert torch.cuda.max_memory_allocated() > 0
        assert allocated() == 0


def test_what_an_error_held_goes_with_it():
    with virtual_gpu():
        a_refused_mix()
        gc.collect()
        assert allocated() == 0


def test_steps_take_no_more_and_more(no_collector):
    with virtual_gpu():
        model = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1)).cuda()
        optimizer = torch.optim.SGD(model.parameters(), momentum=0.9)
        taken = []
        for _ in range(4):
            optimizer.zero_grad()
            model(torch.ones(2, 8, device="cuda")).sum().backward()
            optimizer.step()
            taken.append(allocated())
    assert taken[1:] == [taken[1]] * 3


def test_a_mark_keeps_no_storage_alive(no_collector):
    with virtual_gpu():
        tensor = torch.ones(4, device="cuda")
        storage = weakref.ref(tensor.untyped_storage())
        assert storage() is not None
        del tensor
        assert storage() is None


def test_a_block_that_is_over_keeps_no_tensor_alive(no_collector):
    with virtual_gpu():
        model = nn.Linear(4, 4, device="cuda")
        model(torch.ones(2, 4, device="cuda")).sum().backward()
        kept = [weakref.ref(each) for each in (model, model.weight, model.weight.grad)]
    del model
    assert [each() for each in kept] == [None, None, None]


# Tensors that outlive their block.


def test_a_tensor_is_a_plain_one_outside():
    with virtual_gpu():
        tensor = torch.ones(2, 2, device="cuda", requires_grad=True)
    assert tensor.device == CPU
    assert not tensor.is_cuda
    assert tensor.untyped_storage().device == CPU
    (tensor @ torch.ones(2, 2)).sum().backward()
    assert tensor.grad is not None
    assert tensor.grad.tolist() == [[2.0, 2.0], [2.0, 2.0]]
    assert tensor.detach().numpy().tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert repr(tensor.detach()[0]) == "tensor([1., 1.])"
    assert deepcopy(tensor).device == CPU


def test_a_tensor_is_on_the_device_again_in_the_next_block():
    with virtual_gpu():
        tensor = torch.ones(2, device="cuda")
    with virtual_gpu():
        assert tensor.device == GPU
        assert (tensor + torch.ones(2, device="cuda")).device == GPU
        with pytest.raises(RuntimeError, match="found at least two devices, cuda:0 and cpu!"):
            tensor + torch.ones(2)


def test_a_model_trains_on_outside():
    torch.manual_seed(0)
    with virtual_gpu():
        model = nn.Linear(2, 1).cuda()
        optimizer = torch.optim.Adam(model.parameters(), lr=0.5)
        step(model, optimizer, torch.ones(4, 2, device="cuda"))
    losses = [step(model, optimizer, torch.ones(4, 2)) for _ in range(20)]
    assert losses[-1] < losses[0]


def step(model: nn.Module, optimizer: torch.optim.Optimizer, batch: Tensor) -> float:
    optimizer.zero_grad()
    loss = model(batch).square().mean()
    loss.backward()
    optimizer.step()
    return float(loss.detach())


def test_a_graph_of_the_block_can_be_gone_back_through_outside():
    with virtual_gpu():
        weight = torch.ones(2, device="cuda", requires_grad=True)
        gradients: list[Tensor] = []
        scaled = Twice.apply(nn.Identity()(weight.cpu().cuda()))
        scaled.register_hook(gradients.append)
        loss = scaled.sum()
    loss.backward()
    assert weight.grad is not None
    assert weight.grad.tolist() == [2.0, 2.0]
    assert [gradient.device for gradient in gradients] == [CPU]


def test_hooks_of_modules_are_called_outside_too():
    called = []
    with virtual_gpu():
        model = nn.Linear(2, 2).cuda()
        model.register_full_backward_hook(lambda module, inputs, outputs: called.append(outputs))
        loss = model(torch.ones(1, 2, device="cuda", requires_grad=True)).sum()
    loss.backward()
    assert [output.tolist() for (output,) in called] == [[[1.0, 1.0]]]


def test_a_graph_of_the_cpu_can_be_gone_back_through_inside():
    weight = torch.ones(2, requires_grad=True)
    loss = (weight * 3).sum()
    with virtual_gpu():
        loss.backward()
        assert weight.grad is not None
        assert weight.grad.device == CPU
        assert weight.grad.tolist() == [3.0, 3.0]


# The object itself.


def test_a_block_counts_anew_what_lives_on_its_devices():
    with virtual_gpu():
        kept = torch.ones(4, device="cuda")
        assert allocated() == 16
    with virtual_gpu():
        assert allocated() == 0
        del kept
        assert allocated() == 0


def test_one_object_may_be_entered_again_and_again():
    block = virtual_gpu(2)
    for _ in range(2):
        with block as gpus:
            assert gpus is block
            assert torch.cuda.device_count() == 2
            with block:
                assert torch.ones(1, device="cuda:1").device == torch.device("cuda:1")
            assert torch.ones(1, device="cuda:1").device == torch.device("cuda:1")
        assert not torch.cuda.is_available()


def test_the_machine_is_that_of_the_innermost_block_that_has_not_ended():
    outer, inner = virtual_gpu(1), virtual_gpu(3)
    outer.__enter__()
    inner.__enter__()
    outer.__exit__(None, None, None)
    assert torch.cuda.device_count() == 3
    assert torch.ones(1, device="cuda:2").device == torch.device("cuda:2")
    inner.__exit__(None, None, None)
    assert torch.ones(1).device == CPU

"""What is recomputed or kept elsewhere for the backward pass, on the virtual GPU."""

from __future__ import annotations

from functools import partial

import pytest
import torch
from torch import Tensor, nn
from torch.autograd import graph
from torch.utils import checkpoint as checkpoints

from tests.guard.leaves import CPU, GPU, OTHER, gradient_of, leaf, network

pytestmark = pytest.mark.virtual_gpu(2)


@pytest.mark.parametrize("reentrant", [False, True])
@pytest.mark.parametrize("given", [CPU, GPU], ids=str)
def test_a_checkpoint_with_a_move_inside(reentrant, given):
    model = network()

    def block(value):
        noise = torch.zeros(value.shape, device=model[0].weight.device)
        return model(value.cuda() + noise)

    value = leaf(2, 3, device=given)
    checkpoints.checkpoint(block, value, use_reentrant=reentrant).sum().backward()
    assert gradient_of(value).device == given
    assert gradient_of(model[0].weight).device == GPU


def test_a_checkpoint_over_two_devices():
    first, second = network(), nn.Linear(2, 2, device=OTHER)
    value = leaf(2, 3)
    made = checkpoints.checkpoint(
        lambda one: second(first(one).to(OTHER)), value, use_reentrant=False
    )
    made.cpu().sum().backward()
    assert gradient_of(first[0].weight).device == GPU
    assert gradient_of(second.weight).device == OTHER


def test_a_checkpoint_of_layers_in_turn():
    model = nn.Sequential(*(nn.Linear(3, 3) for _ in range(4))).cuda()
    value = leaf(2, 3)
    checkpoints.checkpoint_sequential(model, 2, value, use_reentrant=False).sum().backward()
    assert {gradient_of(each).device for each in model.parameters()} == {GPU}


@pytest.mark.parametrize("saves", [True, False])
def test_a_selective_checkpoint(saves):
    policy = checkpoints.CheckpointPolicy
    chosen = policy.MUST_SAVE if saves else policy.MUST_RECOMPUTE
    contexts = partial(
        checkpoints.create_selective_checkpoint_contexts, lambda ctx, op, *args, **kwargs: chosen
    )
    model, value = network(), leaf(2, 3)
    expected = torch.autograd.grad(model(value).sum(), value)[0]
    made = checkpoints.checkpoint(model, value, use_reentrant=False, context_fn=contexts)
    assert made.device == GPU
    made.sum().backward()
    assert gradient_of(value).device == GPU
    assert torch.equal(gradient_of(value), expected)


def test_a_checkpoint_under_autocast():
    model, value = network(), leaf(2, 3)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        made = checkpoints.checkpoint(model, value, use_reentrant=False)
    assert made.dtype == torch.bfloat16
    made.float().sum().backward()
    assert gradient_of(model[0].weight).device == GPU


@pytest.mark.parametrize("pinned", [False, True])
def test_saved_tensors_wait_on_the_cpu(pinned):
    model, value = network(), leaf(2, 3)
    with graph.save_on_cpu(pin_memory=pinned):
        made = model(value)
    made.sum().backward()
    assert gradient_of(value).device == GPU


def test_saved_tensors_are_packed_and_unpacked_where_they_lie():
    seen: list[torch.device] = []

    def pack(tensor: Tensor) -> tuple[torch.device, Tensor]:
        seen.append(tensor.device)
        return tensor.device, tensor.cpu()

    def unpack(packed: tuple[torch.device, Tensor]) -> Tensor:
        assert packed[1].device == CPU
        return packed[1].to(packed[0])

    value = leaf(2)
    with graph.saved_tensors_hooks(pack, unpack):
        made = (value * 2).exp()
    made.sum().backward()
    assert seen == [GPU] * len(seen)
    assert seen
    assert gradient_of(value).device == GPU

"""Backward passes on the virtual GPU: twice, over devices, in threads, inside each other."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import conv2d, linear

from tests.guard.leaves import CPU, GPU, OTHER, Scaled, gradient_of, leaf, network

pytestmark = pytest.mark.virtual_gpu(2)


def test_a_gradient_penalty():
    critic = network()
    real, fake = torch.ones(2, 3, device=GPU), torch.zeros(2, 3, device=GPU)
    share = torch.full((2, 1), 0.5, device=GPU)
    mixed = (share * real + (1 - share) * fake).requires_grad_()
    (gradient,) = torch.autograd.grad(
        critic(mixed).sum(), mixed, torch.ones([], device=GPU), create_graph=True
    )
    penalty = ((gradient.norm(2, dim=1) - 1) ** 2).mean()
    penalty.backward()
    assert penalty.device == GPU
    assert {gradient_of(each).device for each in critic[0].parameters()} == {GPU}


def test_a_product_with_the_hessian():
    value = leaf(3)
    (gradient,) = torch.autograd.grad((value**3).sum(), value, create_graph=True)
    (product,) = torch.autograd.grad(gradient @ torch.ones(3, device=GPU), value)
    assert (product.device, product.tolist()) == (GPU, [6.0, 6.0, 6.0])


@pytest.mark.parametrize("fast", [False, True])
def test_gradients_agree_with_differences(fast):
    value = torch.full((2, 2), 0.5, device=GPU, dtype=torch.float64, requires_grad=True)
    scaled = partial(Scaled.apply)
    assert torch.autograd.gradcheck(lambda one: scaled(one, 2.0) ** 2, value, fast_mode=fast)
    assert torch.autograd.gradgradcheck(lambda one: scaled(one, 2.0) ** 3, value, fast_mode=fast)


@pytest.mark.filterwarnings(
    "ignore:Anomaly Detection has been enabled", "ignore:Error detected in SqrtBackward0"
)
def test_anomalies_are_found():
    with torch.autograd.detect_anomaly(check_nan=True):
        model, value = network(), leaf(2, 3)
        model(value).sum().backward()
        assert gradient_of(value).device == GPU
        with pytest.raises(RuntimeError, match="SqrtBackward0' returned nan"):
            (leaf(2) * 0).sqrt().mul(0).sum().backward()


def test_gradients_of_a_leaf_that_went_to_every_device():
    value = leaf(2, device=CPU)
    total = sum((value.to(device) * 2).sum().cpu() for device in (CPU, GPU, OTHER))
    assert isinstance(total, Tensor)
    total.backward()
    assert (gradient_of(value).device, gradient_of(value).tolist()) == (CPU, [6.0, 6.0])


def test_a_model_in_two_halves_learns_what_it_learns_in_one():
    def losses(first: torch.device, second: torch.device) -> list[float]:
        torch.manual_seed(0)
        bottom, top = nn.Linear(3, 4).to(first), nn.Linear(4, 1).to(second)
        optimizer = torch.optim.Adam([*bottom.parameters(), *top.parameters()], lr=0.1)
        found = []
        for _ in range(4):
            optimizer.zero_grad()
            hidden = torch.tanh(bottom(torch.ones(2, 3, device=first)))
            loss = top(hidden.to(second)).square().mean()
            loss.backward()
            assert gradient_of(bottom.weight).device == first
            assert gradient_of(top.weight).device == second
            optimizer.step()
            found.append(loss.item())
        return found

    assert losses(GPU, OTHER) == losses(OTHER, CPU) == losses(CPU, CPU)


def test_a_weight_that_two_layers_share_over_devices():
    embedding = nn.Embedding(4, 3, device=GPU)
    hidden = embedding(torch.tensor([0, 1], device=GPU)).to(OTHER)
    linear(hidden, embedding.weight.to(OTHER)).sum().backward()
    assert gradient_of(embedding.weight).device == GPU


def test_a_pass_for_some_inputs_alone():
    first, second = leaf(2), leaf(2, device=OTHER)
    loss = (first * second.to(GPU)).sum()
    loss.backward(inputs=[second], retain_graph=True)
    assert first.grad is None
    assert gradient_of(second).device == OTHER
    found = torch.autograd.grad(loss, [first, second], allow_unused=True)
    assert [each.device for each in found] == [GPU, OTHER]


def test_many_passes_at_once():
    value = leaf(3)
    (rows,) = torch.autograd.grad(
        value.exp(), value, torch.eye(3, device=GPU), is_grads_batched=True
    )
    assert (rows.device, rows.shape) == (GPU, (3, 3))


def test_gradients_that_nobody_asked_for():
    used, unused = leaf(2), leaf(2, device=OTHER)
    found = torch.autograd.grad(
        used.sum(), [used, unused], allow_unused=True, materialize_grads=True
    )
    assert [each.device for each in found] == [GPU, OTHER]


def test_a_pass_inside_a_pass():
    outer, inner = leaf(2), leaf(2, device=OTHER)

    def hook(gradient: Tensor) -> Tensor:
        with torch.enable_grad():
            (inner * 2).sum().backward()
        return gradient + gradient_of(inner).to(GPU)

    (doubled := outer * 2).register_hook(hook)
    doubled.sum().backward()
    assert gradient_of(inner).device == OTHER
    assert (gradient_of(outer).device, gradient_of(outer).tolist()) == (GPU, [6.0, 6.0])


def test_a_hook_sees_which_of_its_tensors_are_on_the_host():
    """A gradient bears no mark in there: what lies on the CPU must not be taken for one."""
    value, weight = leaf(2), torch.arange(2.0)
    value.register_hook(lambda gradient: gradient * weight.detach())
    with pytest.raises(RuntimeError, match="same device"):
        value.sum().backward()
    other = leaf(2)
    other.register_hook(lambda gradient: gradient * weight.to(GPU))
    other.sum().backward()
    assert gradient_of(other).tolist() == [0.0, 1.0]


def test_a_pass_in_a_thread():
    value = leaf(2)
    loss = Scaled.apply(value, 2.0).sum()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(loss.backward).result()
    assert gradient_of(value).device == GPU


def test_passes_in_many_threads():
    """Each begins on another device, and makes tensors beside its gradient."""
    gate = threading.Barrier(4)

    def work(number: int) -> list[torch.device]:
        device = (CPU, GPU, OTHER, GPU)[number]
        gate.wait(60)
        found = []
        for _ in range(20):
            value = leaf(3, device=device)
            (Scaled.apply(value, 2.0) * 3).sum().backward()
            found.append(gradient_of(value).device)
        return found

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(work, range(4)))
    assert found == [[device] * 20 for device in (CPU, GPU, OTHER, GPU)]


def test_gradients_of_kernels_that_keep_much():
    """Whatever kernels save and make, their gradients lie with what they were given."""
    image, weight = leaf(1, 2, 5, 5), leaf(3, 2, 3, 3)
    layers = nn.Sequential(nn.BatchNorm2d(3), nn.PReLU(), nn.MaxPool2d(2), nn.Dropout(0.5)).cuda()
    layers(conv2d(image, weight)).sum().backward()
    leaves = [image, weight, *layers.parameters()]
    assert {gradient_of(each).device for each in leaves} == {GPU}


def test_a_sparse_gradient():
    table = nn.Embedding(4, 2, sparse=True, device=GPU)
    table(torch.tensor([1, 1, 3], device=GPU)).sum().backward()
    found = gradient_of(table.weight)
    assert found.is_sparse
    assert found.device == found.coalesce().values().device == found.to_dense().device == GPU


def test_a_gradient_may_be_scaled_and_clipped_and_added_up():
    model = network()
    for _ in range(2):
        model(torch.ones(2, 3, device=GPU)).sum().backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 0.1)
    assert norm.device == GPU
    with pytest.raises(RuntimeError, match="cuda:0 and cpu!"):
        gradient_of(model[0].weight).add_(torch.ones(4, 3))

"""Derivatives as functions on the virtual GPU: torch.func, torch.autograd.functional."""

from __future__ import annotations

from functools import partial

import pytest
import torch
from torch import Tensor, func
from torch.autograd import forward_ad
from torch.nn.functional import mse_loss

from tests.guard.leaves import CPU, GPU, network

# What torch's own forward derivatives, and torch.func.linearize, warn of on any device.
pytestmark = [
    pytest.mark.virtual_gpu(2),
    pytest.mark.filterwarnings(
        "ignore:.*torch.jit.script. is deprecated", "ignore:Attempted to insert a get_attr Node"
    ),
]


def cubes(value: Tensor) -> Tensor:
    return (value**3 * torch.ones(3, device=value.device)).sum()


JACOBIANS = {
    "jacobian": lambda value: torch.autograd.functional.jacobian(torch.exp, value),
    "jacobian, vectorized": lambda value: torch.autograd.functional.jacobian(
        torch.exp, value, vectorize=True
    ),
    "jacobian, forwards": lambda value: torch.autograd.functional.jacobian(
        torch.exp, value, vectorize=True, strategy="forward-mode"
    ),
    "hessian": lambda value: torch.autograd.functional.hessian(cubes, value),
    "vjp": lambda value: torch.autograd.functional.vjp(cubes, value)[1],
    "jvp": lambda value: torch.autograd.functional.jvp(torch.exp, value, torch.ones_like(value))[1],
    "hvp": lambda value: torch.autograd.functional.hvp(cubes, value, torch.ones_like(value))[1],
    "vhp": lambda value: torch.autograd.functional.vhp(cubes, value, torch.ones_like(value))[1],
    "func.grad": func.grad(cubes),
    "func.grad_and_value": lambda value: func.grad_and_value(cubes)(value)[1],
    "func.jacrev": func.jacrev(torch.exp),
    "func.jacfwd": func.jacfwd(torch.exp),
    "func.hessian": func.hessian(cubes),
    "func.vjp": lambda value: func.vjp(cubes, value)[1](torch.ones([], device=value.device))[0],
    "func.jvp": lambda value: func.jvp(torch.exp, (value,), (torch.ones_like(value),))[1],
    "func.linearize": lambda value: func.linearize(torch.exp, value)[1](torch.ones_like(value)),
    "func.vmap": func.vmap(lambda one: one * 2),
    "func.vmap of grad": func.vmap(func.grad(lambda one: one.sin())),
    "func.vmap of two": lambda value: func.vmap(torch.mul, in_dims=(0, None))(value, value),
}


@pytest.mark.parametrize("name", JACOBIANS)
def test_a_derivative_is_what_it_is_on_the_cpu(name):
    found = JACOBIANS[name](torch.arange(1.0, 4.0, device=GPU))
    assert found.device == GPU
    expected = JACOBIANS[name](torch.arange(1.0, 4.0))
    assert expected.device == CPU
    assert torch.equal(found.cpu(), expected)


@pytest.mark.parametrize("transform", [func.grad, func.jacrev, func.hessian, func.vmap])
def test_a_transform_refuses_what_mixes_inside(transform):
    other = torch.ones(3)
    mixing = (
        partial(torch.mul, other) if transform is func.vmap else lambda one: (one * other).sum()
    )
    value = torch.ones(2, 3, device=GPU) if transform is func.vmap else torch.ones(3, device=GPU)
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        transform(mixing)(value)


def test_gradients_of_each_sample():
    model = network()
    weights = {name: weight.detach() for name, weight in model.named_parameters()}

    def loss(weights, sample, target):
        return mse_loss(func.functional_call(model, weights, (sample[None],)), target[None])

    samples, targets = torch.ones(5, 3, device=GPU), torch.ones(5, 2, device=GPU)
    each = func.vmap(func.grad(loss), in_dims=(None, 0, 0))(weights, samples, targets)
    assert {gradient.device for gradient in each.values()} == {GPU}
    assert each["0.weight"].shape == (5, 4, 3)


def test_an_ensemble():
    models = [network() for _ in range(3)]
    weights, buffers = func.stack_module_state(models)
    assert {weight.device for weight in weights.values()} == {GPU}
    bare = network("meta")

    def call(weights, buffers, value):
        return func.functional_call(bare, (weights, buffers), (value,))

    value = torch.ones(2, 3, device=GPU)
    made = func.vmap(call, in_dims=(0, 0, None), randomness="same")(weights, buffers, value)
    assert (made.device, made.shape) == (GPU, (3, 2, 2))


def test_functional_call_with_weights_elsewhere():
    model = network(CPU)
    weights = {name: weight.cuda() for name, weight in model.named_parameters()}
    assert func.functional_call(model, weights, (torch.ones(1, 3, device=GPU),)).device == GPU
    with pytest.raises(RuntimeError, match="mat1 is on cpu, different from other tensors on cuda"):
        func.functional_call(model, weights, (torch.ones(1, 3),))


def test_dual_numbers():
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(torch.ones(2, device=GPU), torch.ones(2, device=GPU))
        value, tangent = forward_ad.unpack_dual(dual.exp() * 2)
    assert tangent is not None
    assert (value.device, tangent.device) == (GPU, GPU)

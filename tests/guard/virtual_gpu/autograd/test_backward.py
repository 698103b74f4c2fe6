"""Gradients on the virtual GPU in hooks and in the functions of a program."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, func, nn
from torch.autograd import graph

from tests.guard.leaves import CPU, GPU, OTHER, Scaled, ScaledOnce, gradient_of, leaf, network

pytestmark = pytest.mark.virtual_gpu(2)


# Hooks, whose gradients are used after the pass.


def test_grad_cam():
    """The classical use: a hook keeps the gradient of a map, and it weighs the map later."""
    torch.manual_seed(0)
    features = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU()).cuda()
    head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2)).cuda()
    kept: dict[str, Tensor] = {}

    def keep(module, inputs, output):
        kept["map"] = output.detach()
        output.register_hook(lambda gradient: kept.update(gradient=gradient))

    features.register_forward_hook(keep)
    head(features(torch.ones(1, 3, 6, 6, device=GPU)))[0, 1].backward()
    weights = kept["gradient"].mean(dim=(2, 3), keepdim=True)
    heat = torch.relu((weights * kept["map"]).sum(1))
    assert heat.device == GPU
    with pytest.raises(TypeError, match="can't convert cuda:0 device type tensor to numpy"):
        heat.numpy()
    with pytest.raises(RuntimeError, match="cuda:0 and cpu!"):
        weights * kept["map"].cpu()


def test_the_gradient_that_a_hook_keeps_lies_with_its_tensor():
    kept: list[Tensor] = []
    first = leaf(2) * 2
    second = first.to(OTHER) * 3
    third = second.cpu() * 4
    for each in (first, second, third):
        each.register_hook(kept.append)
    third.sum().backward()
    assert [each.device for each in kept] == [CPU, OTHER, GPU]


def test_a_full_backward_hook_keeps_gradients_of_every_device():
    kept: list[tuple[Tensor, Tensor]] = []

    class Halves(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(2, 2, device=GPU)
            self.second = nn.Linear(2, 2, device=OTHER)

        def forward(self, value):
            return self.second(self.first(value).to(OTHER))

    model = Halves()
    for layer in (model, model.first, model.second):
        layer.register_full_backward_hook(lambda _, given, got: kept.append((given[0], got[0])))
    model(leaf(1, 2)).sum().backward()
    assert [(given.device, got.device) for given, got in kept] == [
        (OTHER, OTHER),
        (GPU, GPU),
        (GPU, OTHER),
    ]


def test_the_backward_hook_of_a_module_without_parameters():
    kept: list[Tensor] = []
    value = leaf(2, device=OTHER)
    layer = nn.ReLU()
    layer.register_full_backward_hook(lambda _, given, got: kept.extend([*given, *got]))
    layer.register_full_backward_pre_hook(lambda _, got: kept.extend(got))
    layer(value).cpu().sum().backward()
    assert [each.device for each in kept] == [OTHER] * 3


def test_a_hook_after_accumulation_may_step_and_drop():
    model = network()
    before = model[0].weight.detach().clone()
    optimizers = {weight: torch.optim.SGD([weight], lr=0.1) for weight in model.parameters()}

    def step(weight: Tensor) -> None:
        assert gradient_of(weight).device == GPU
        optimizers[weight].step()
        optimizers[weight].zero_grad()

    for weight in model.parameters():
        weight.register_post_accumulate_grad_hook(step)
    model(torch.ones(2, 3, device=GPU)).sum().backward()
    assert all(weight.grad is None for weight in model.parameters())
    assert not torch.equal(model[0].weight, before)


def test_hooks_of_nodes_see_gradients_where_the_pass_began():
    seen: list[torch.device] = []
    value = leaf(2)
    doubled = value * 2
    assert doubled.grad_fn is not None
    doubled.grad_fn.register_hook(
        lambda given, got: seen.extend([(given[0] + value).device, got[0].device])
    )
    doubled.grad_fn.register_prehook(lambda got: seen.append((got[0] * doubled).device))
    doubled.sum().backward()
    assert seen == [GPU] * 3


@pytest.mark.xfail(strict=True, reason="the nodes of the graph are C++'s: nothing marks for them")
def test_the_gradient_that_a_hook_of_a_node_keeps():
    kept: list[Tensor] = []
    value = leaf(2)
    doubled = value * 2
    assert doubled.grad_fn is not None
    doubled.grad_fn.register_hook(lambda given, got: kept.append(given[0]))
    doubled.sum().backward()
    assert kept[0].device == GPU


def test_hooks_of_several_gradients():
    kept: list[Tensor | None] = []
    first, second = leaf(2), leaf(2, device=OTHER)
    graph.register_multi_grad_hook((first, second), kept.extend)
    (first.sum() + second.to(GPU).sum()).backward()
    assert [each.device for each in kept if each is not None] == [GPU, OTHER]


def test_a_hook_may_return_another_gradient():
    value = leaf(2)
    (doubled := value * 2).register_hook(lambda gradient: torch.zeros_like(gradient) + 5)
    doubled.sum().backward()
    assert gradient_of(value).tolist() == [10.0, 10.0]
    assert gradient_of(value).device == GPU


# Functions of a program.


class Split(torch.autograd.Function):
    """Two results, one of which has no gradient; the context comes apart."""

    generate_vmap_rule = True

    @staticmethod
    def forward(value):
        return value * 2, value.argmax()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.mark_non_differentiable(output[1])
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx, gradient, _):
        return gradient * 2


@pytest.mark.parametrize("kind", [Scaled, ScaledOnce])
@pytest.mark.parametrize("device", [CPU, GPU, OTHER], ids=str)
def test_a_function_makes_tensors_beside_its_gradient(kind, device):
    value = leaf(2, device=device)
    (kind.apply(value, 3.0).to(GPU) ** 2).sum().backward()
    assert gradient_of(value).device == device
    assert gradient_of(value).tolist() == [18.0, 18.0]


def test_a_function_is_differentiated_twice():
    value = leaf(2)
    (first,) = torch.autograd.grad((Scaled.apply(value, 3.0) ** 2).sum(), value, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), value)
    assert (first.device, second.device) == (GPU, GPU)
    assert second.tolist() == [18.0, 18.0]
    once = torch.autograd.grad((ScaledOnce.apply(value, 3.0) ** 2).sum(), value, create_graph=True)
    with pytest.raises(RuntimeError, match="marked with @once_differentiable"):
        once[0].sum().backward()


def test_a_function_of_several_results():
    value = leaf(3)
    doubled, where = Split.apply(value)
    assert (doubled.device, where.device) == (GPU, GPU)
    doubled.sum().backward()
    assert gradient_of(value).device == GPU
    many = torch.ones(2, 3, device=GPU)
    assert func.vmap(Split.apply)(many)[0].device == GPU


class InPlace(torch.autograd.Function):
    """Writes what it is given."""

    @staticmethod
    def forward(ctx, value):
        ctx.mark_dirty(value)
        return value.mul_(2)

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2


def test_a_function_that_writes_its_input():
    value = leaf(2)
    copy = value.clone()
    assert InPlace.apply(copy) is copy
    copy.sum().backward()
    assert gradient_of(value).tolist() == [2.0, 2.0]
    assert gradient_of(value).device == GPU


class Forgetful(torch.autograd.Function):
    """Makes its mask on the CPU on the way back."""

    @staticmethod
    def forward(ctx, value):
        return value * 1

    @staticmethod
    def backward(ctx, gradient):
        return gradient * torch.ones(gradient.shape)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_function_that_mixes_on_the_way_back():
    with pytest.raises(RuntimeError, match="found at least two devices, cuda:0 and cpu!"):
        Forgetful.apply(leaf(2)).sum().backward()
    Forgetful.apply(leaf(2, device=CPU)).sum().backward()


# Classes of tensors, whose calls reach the engine inside of an operation.


class Posed(Tensor):
    """A tensor of a class of its own, with the behaviour of any other."""


class Sine(torch.autograd.Function):
    """Makes tensors in its backward pass, on the device of what it saved."""

    generate_vmap_rule = True

    @staticmethod
    def forward(value):
        return value.sin()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, gradient):
        (value,) = ctx.saved_tensors
        ones = torch.ones(value.shape, device=value.device)
        assert value.device == gradient.device == ones.device == GPU
        return gradient * value.cos() * ones


def posed(value: Tensor) -> Tensor:
    made: Tensor = Sine.apply(value.as_subclass(Posed))
    return made


def test_a_function_of_a_class_of_tensors_sees_its_devices_in_the_backward_pass():
    value = leaf(3)
    posed(value).sum().backward()
    assert gradient_of(value).device == GPU
    assert func.jacrev(posed)(torch.ones(3, device=GPU)).device == GPU


def test_a_hook_of_a_class_of_tensors_makes_tensors_where_it_says():
    seen: list[torch.device] = []

    def hook(gradient: Tensor) -> Tensor:
        ones = torch.ones(3, device=gradient.device)
        seen.extend((gradient.device, ones.device))
        return gradient * ones

    made = leaf(3).as_subclass(Posed) * 2
    made.register_hook(hook)
    made.sum().backward()
    assert seen == [GPU, GPU]

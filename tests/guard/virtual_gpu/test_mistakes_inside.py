"""Mistakes in Python that runs inside of operators: each is noticed, and its right twin passes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map
from torch.utils.checkpoint import checkpoint

from tests.guard.leaves import CPU, GPU, OTHER

pytestmark = [
    pytest.mark.virtual_gpu(2),
    pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile"),
]

Mistake = Callable[[torch.device], Any]
"""A program that makes something on the device that it is given, beside tensors of the GPU."""


def rows() -> Tensor:
    return torch.ones(2, 3, device=GPU)


class Shifted(Tensor):
    """A wrapper whose operators add a shift of a device of their own."""

    inner: Tensor
    beside: torch.device = GPU

    @staticmethod
    def __new__(cls, inner: Tensor) -> Shifted:
        made: Shifted = Tensor._make_wrapper_subclass(
            cls, inner.shape, dtype=inner.dtype, device=inner.device
        )
        made.inner = inner
        return made

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        plain = tree_map(lambda one: one.inner if isinstance(one, Shifted) else one, args)
        made = func(*plain, **(kwargs or {}))
        if func is torch.ops.aten.mul.Tensor:
            made = made + torch.ones(3, device=cls.beside)
        return cls(made) if isinstance(made, Tensor) else made


def in_a_wrapper(device: torch.device) -> Any:
    class Own(Shifted):
        beside = device

    return Own(rows()) * 2.0


def in_a_wrapper_of_a_parameter(device: torch.device) -> Any:
    class Own(Shifted):
        beside = device

    return nn.Parameter(Own(rows()), requires_grad=False) * 2.0


def with_a_wrapper_of_another_device(device: torch.device) -> Any:
    return Shifted(rows()) + Shifted(torch.ones(2, 3, device=device))


def with_a_plain_tensor(device: torch.device) -> Any:
    return torch.ones(2, 3, device=device) - Shifted(rows())


class Mode(TorchDispatchMode):
    """Runs an operator, and then something of its own."""

    def __init__(self, then: Callable[[Any], Any]) -> None:
        super().__init__()
        self.then = then

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        made = func(*args, **(kwargs or {}))
        return self.then(made) if func is torch.ops.aten.mul.Tensor else made


def in_a_mode(device: torch.device) -> Any:
    with Mode(lambda made: made + torch.ones(3, device=device)):
        return rows() * rows()


def in_a_mode_by_matmul(device: torch.device) -> Any:
    with Mode(lambda made: made @ torch.ones(3, 3, device=device)):
        return rows() * rows()


def in_a_mode_by_an_operator(device: torch.device) -> Any:
    with Mode(lambda made: torch.ops.aten.add.Tensor(made, torch.ones(3, device=device))):
        return rows() * rows()


def in_a_mode_within_another(device: torch.device) -> Any:
    with Mode(lambda made: made), Mode(lambda made: made / torch.ones(3, device=device)):
        return rows() * rows()


def in_a_mode_without_gradients(device: torch.device) -> Any:
    with torch.no_grad(), Mode(lambda made: made.lerp(torch.ones(2, 3, device=device), 0.5)):
        return rows() * rows()


@torch.library.custom_op("mistakes_inside::scaled", mutates_args=())
def scaled(x: Tensor, device: torch.device) -> Tensor:
    return x * torch.ones(3, device=device)


@scaled.register_fake
def _(x, device):
    return torch.empty_like(x)


def in_a_custom_operator(device: torch.device) -> Any:
    return scaled(rows(), device)


def in_a_custom_operator_in_inference(device: torch.device) -> Any:
    with torch.inference_mode():
        return scaled(rows(), device)


@torch.library.custom_op("mistakes_inside::added_", mutates_args={"x"})
def added_(x: Tensor, device: torch.device) -> None:
    x.add_(torch.ones(3, device=device))


def in_a_custom_operator_that_writes(device: torch.device) -> Any:
    return added_(rows(), device)


@cache
def library() -> torch.library.Library:
    """Kernels of a library are seen inside where they are registered inside the block."""
    made = torch.library.Library("mistakes_inside_too", "DEF")
    made.define("joined(Tensor x, Device device) -> Tensor")
    made.impl("joined", joined, "CompositeExplicitAutograd")
    return made


def joined(x, device):
    return torch.cat([x, torch.ones(1, 3, device=device)])


def in_a_kernel_of_a_library(device: torch.device) -> Any:
    library()
    return torch.ops.mistakes_inside_too.joined(rows(), device)


class Function(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, here, there):
        ctx.there = there
        return x * torch.ones(3, device=here)

    @staticmethod
    def backward(ctx, grad):
        return grad * torch.ones(3, device=ctx.there), None, None


def in_the_forward_of_a_function(device: torch.device) -> Any:
    return Function.apply(rows().requires_grad_(), device, GPU)


def in_the_backward_of_a_function(device: torch.device) -> Any:
    return Function.apply(rows().requires_grad_(), GPU, device).sum().backward()


def in_a_branch(device: torch.device) -> Any:
    beside = torch.ones(3, device=device)
    x = rows()
    return torch.cond(x.sum() > 0, lambda x: x * beside, lambda x: x - beside, (x,))


def in_a_scan(device: torch.device) -> Any:
    from torch._higher_order_ops.scan import scan

    beside = torch.ones(3, device=device)

    def step(carry, row):
        return carry + row * beside, carry.clone()

    return scan(step, torch.zeros(3, device=GPU), rows())


def in_a_map(device: torch.device) -> Any:
    from torch._higher_order_ops.map import map as mapped

    beside = torch.ones(3, device=device)
    return mapped(lambda row: row + beside, rows())


def in_vmap(device: torch.device) -> Any:
    beside = torch.ones(3, device=device)
    return torch.vmap(lambda row: row * beside)(rows())


def in_a_gradient(device: torch.device) -> Any:
    beside = torch.ones(3, device=device)
    return torch.func.grad(lambda x: (x * beside).sum())(rows())


def in_a_score_of_attention(device: torch.device) -> Any:
    from torch.nn.attention.flex_attention import flex_attention

    bias = torch.ones(16, device=device)
    query = torch.randn(1, 1, 16, 8, device=GPU)
    return flex_attention(query, query, query, score_mod=lambda s, b, h, q, k: s + bias[k])


def in_a_compiled_function(device: torch.device) -> Any:
    return torch.compile(lambda x: x * torch.ones(3, device=device), backend="eager")(rows())


def in_scripted_code(device: torch.device) -> Any:
    return torch.jit.script(_scaled_by)(rows(), torch.ones(3, device=device))


def _scaled_by(x: Tensor, y: Tensor) -> Tensor:
    return x * y


def in_inference_by_a_bilinear_layer(device: torch.device) -> Any:
    with torch.inference_mode():
        return nn.Bilinear(3, 3, 2, device=GPU)(rows(), torch.ones(2, 3, device=device))


def in_inference_by_attention(device: torch.device) -> Any:
    heads = torch.ones(1, 1, 4, 4, device=GPU)
    with torch.inference_mode():
        return nn.functional.scaled_dot_product_attention(heads, heads.to(device), heads)


def in_a_hook_of_a_gradient(device: torch.device) -> Any:
    made = rows().requires_grad_() * 2
    made.register_hook(lambda grad: grad * torch.ones(3, device=device))
    made.sum().backward()


def in_a_checkpointed_block(device: torch.device) -> Any:
    return checkpoint(scaled_by_ones, rows().requires_grad_(), device, use_reentrant=False)


def scaled_by_ones(x: Tensor, device: torch.device) -> Tensor:
    return x * torch.ones(3, device=device)


def in_a_function_mode(device: torch.device) -> Any:
    class Scaling(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            made = func(*args, **(kwargs or {}))
            return scaled_by_ones(made, device) if func is torch.relu else made

    with Scaling():
        return torch.relu(rows())


def in_a_parametrization(device: torch.device) -> Any:
    class Scale(nn.Module):
        def forward(self, weight):
            return scaled_by_ones(weight, device)

    return parametrize.register_parametrization(nn.Linear(3, 2, device=GPU), "weight", Scale())


def in_a_jvp(device: torch.device) -> Any:
    return torch.func.jvp(lambda x: scaled_by_ones(x, device), (rows(),), (rows(),))


MISTAKES: list[Mistake] = [
    value for name, value in globals().items() if name.startswith(("in_", "with_"))
]


@pytest.mark.filterwarnings("ignore::runtime_guard.VirtualGpuWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("elsewhere", [CPU, OTHER], ids=str)
@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.__name__)
def test_a_mistake_is_noticed_and_its_twin_is_not(mistake, elsewhere):
    mistake(GPU)
    with pytest.raises(RuntimeError, match="device"):
        mistake(elsewhere)


def test_there_are_enough_of_them():
    assert len(MISTAKES) >= 30

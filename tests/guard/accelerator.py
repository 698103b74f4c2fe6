"""A test double: tensors that are on an accelerator and have data, on a machine without one.

    with Accelerator():
        x = torch.ones(3).to("cuda:0")
        assert float(x.sum()) == 3

The device is torch's own word for them, so whoever asks is told `cuda:0`. Every operation is
carried out by the CPU on the data they hold; devices that must not mix may mix here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map

DEVICE = torch.device("cuda:0")
GETTERS = {
    Tensor.device.__get__,
    Tensor.is_cpu.__get__,
    Tensor.is_cuda.__get__,
}
MOVES = {Tensor.to, Tensor.cuda, Tensor.cpu, torch.tensor, torch.as_tensor}


class OnAccelerator(Tensor):
    """A tensor on `cuda:0`; `held` is its data, in the host's memory."""

    held: Tensor

    @staticmethod
    def __new__(cls, held: Tensor) -> OnAccelerator:
        made: OnAccelerator = Tensor._make_wrapper_subclass(
            cls, held.shape, dtype=held.dtype, device=DEVICE
        )
        made.held = held
        return made

    @classmethod
    def __torch_function__(
        cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if function in GETTERS:
            with torch._C.DisableTorchFunctionSubclass():
                return function(*args, **kwargs)
        if function is Tensor.numpy and not kwargs.get("force"):
            raise TypeError("can't convert cuda:0 device type tensor to numpy.")
        if function is Tensor.__repr__:
            return f"tensor({args[0].tolist()}, device='cuda:0')"
        if function is Tensor.__format__:
            return format(args[0].item(), *args[1:])
        with torch._C.DisableTorchFunction():
            return _carried_out(function, args, kwargs)

    @classmethod
    def __torch_dispatch__(
        cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        # `detach` alone comes here: Parameter makes the tensor it is given into one.
        return tree_map(_there, function(*tree_map(_held, args), **(kwargs or {})))


class Accelerator(TorchFunctionMode):
    """While it is entered, tensors can be moved to `cuda:0`, and made there."""

    def __torch_function__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if function in MOVES and _target(function, args, kwargs) == DEVICE:
            return _carried_out(function, args, kwargs)
        return function(*args, **kwargs)


def _carried_out(function: Any, args: Any, kwargs: Mapping[str, Any]) -> Any:
    """Let the CPU do it; the result is there unless it was asked for here."""
    if function is Tensor.copy_:
        _held(args[0]).copy_(_held(args[1]))
        return args[0]
    if function not in MOVES:
        return tree_map(_there, function(*tree_map(_held, args), **tree_map(_held, dict(kwargs))))
    if function is Tensor.cuda:
        return _there(_held(args[0]))
    target = _target(function, args, kwargs)
    result = function(*tree_map(_held_here, args), **tree_map(_held_here, dict(kwargs)))
    return _there(result) if target in (None, DEVICE) else result


def _target(function: Any, args: Any, kwargs: Mapping[str, Any]) -> torch.device | None:
    if function is Tensor.cpu:
        return torch.device("cpu")
    if function is Tensor.cuda:
        return DEVICE
    for value in (kwargs.get("device"), *args[1:2]):
        if isinstance(value, str | torch.device):
            named = torch.device(value)
            return DEVICE if named.type == "cuda" else named
    return None


def _held(value: Any) -> Any:
    return value.held if isinstance(value, OnAccelerator) else value


def _held_here(value: Any) -> Any:
    is_device = isinstance(value, str | torch.device) and torch.device(value) != torch.device(
        "meta"
    )
    return torch.device("cpu") if is_device else _held(value)


def _there(value: Any) -> Any:
    return OnAccelerator(value) if isinstance(value, Tensor) else value


def on_accelerator(held: Tensor) -> OnAccelerator:
    """The tensor there."""
    return OnAccelerator(held)

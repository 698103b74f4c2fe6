"""Moves between devices: copies with another mark, through which gradients flow."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from runtime_guard.virtual.devices.machine import CPU, NAMES, machine
from runtime_guard.virtual.devices.marks import (
    DISPATCHING,
    claimed,
    device_of,
    keep_on_host,
    mark_of,
    place,
)
from runtime_guard.virtual.devices.names import resolved
from runtime_guard.virtual.dispatch.calls import HANDLERS, handles
from runtime_guard.virtual.dispatch.getters import seen_device, type_name
from runtime_guard.virtual.dispatch.running import run


class _Across(torch.autograd.Function):
    """A copy on another device, whose gradient goes back to where the original lies."""

    @staticmethod
    def forward(ctx: Any, tensor: Tensor, device: torch.device, options: dict[str, Any]) -> Tensor:
        is_backward = torch._C._current_graph_task_id() != -1
        ctx.device = claimed(tensor) if is_backward else device_of(tensor)
        ctx.dtype = tensor.dtype
        return copied(tensor, device, options)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        with torch._C.DisableTorchFunction():
            # Seen by the mode, the copy would lie where the gradient does.
            back = grad.to(ctx.dtype, copy=True)
            if ctx.device is not None:
                keep_on_host(back) if ctx.device == CPU else place(back, ctx.device)
            return back, None, None


# By the name of the node that torch makes, which is what a tensor prints.
_Across._backward_cls.__name__ = "ToCopyBackward0"


def copied(tensor: Tensor, device: torch.device, options: dict[str, Any]) -> Tensor:
    """A copy that lives on the device.

    Raises:
        NotImplementedError: a tensor on the meta device has nothing to copy; the text is torch's.
    """
    if device.type == "meta":
        return tensor.to("meta", **options)
    if tensor.is_meta:
        raise NotImplementedError("Cannot copy out of meta tensor; no data!")
    made = tensor.to(**{"dtype": tensor.dtype, **options}, copy=True)
    return keep_on_host(made) if device == CPU else place(made, device)


def moved(tensor: Tensor, device: torch.device, **options: Any) -> Tensor:
    """The tensor on the device: itself if it lies there, else a copy.

    Args:
        tensor: what is moved.
        device: a device of the machine, the CPU or `meta`.
        options: `dtype` and `memory_format`, where they change.
    """
    if type(tensor) in DISPATCHING:
        # Its class says what it is to be moved.
        options = {"dtype": tensor.dtype, **options}
        own: Tensor = torch.ops.aten._to_copy.default(tensor, device=device, **options)
        return own
    wraps = torch._C._functorch.is_functorch_wrapped_tensor(tensor) or _is_below_autograd()
    if tensor.requires_grad and torch.is_grad_enabled() and not wraps:
        across: Tensor = _Across.apply(tensor, device, options)
        return across
    return copied(tensor, device, options)


def _is_below_autograd() -> bool:
    """Whether an operator is being run whose gradient torch has seen to already."""
    key = torch._C.DispatchKey.AutogradCPU
    return bool(torch._C._dispatch_tls_is_dispatch_key_excluded(key))


@handles(Tensor.to)
def _to(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tensor, *rest = args
    device, options, copy = parsed(rest, kwargs)
    own = seen_device(tensor)
    if device is None or device == own:
        made = func(tensor, **options, copy=copy)
        return made if own in (CPU, None) else _kept(made, tensor)
    return moved(tensor, device, **{k: v for k, v in options.items() if k != "non_blocking"})


def _kept(made: Tensor, tensor: Tensor) -> Tensor:
    device = mark_of(tensor)
    return made if device is None else place(made, device)


def parsed(
    rest: list[Any], kwargs: dict[str, Any]
) -> tuple[torch.device | None, dict[str, Any], bool]:
    """The device, the other options and whether to copy, of the arguments of `Tensor.to`."""
    given = dict(kwargs)
    copy = bool(given.pop("copy", False))
    other = rest[0] if rest else given.get("tensor")
    if isinstance(other, Tensor):
        options: dict[str, Any] = {"dtype": other.dtype}
        if "memory_format" in given:
            options["memory_format"] = given["memory_format"]
        return device_of(other), options, copy or any(word is True for word in rest[2:])
    positions = 2 if rest and isinstance(rest[0], torch.dtype) else 3
    if len(rest) > positions:
        copy = copy or bool(rest[positions])
        rest = rest[:positions]
    rest = [torch.device(machine().name, word) if type(word) is int else word for word in rest]
    if type(given.get("device")) is int:
        given["device"] = torch.device(machine().name, given["device"])
    device, dtype, non_blocking, layout = torch._C._nn._parse_to(*rest, **given)
    options = {"non_blocking": non_blocking}
    options.update({"dtype": dtype} if dtype is not None else {})
    options.update({"memory_format": layout} if layout is not None else {})
    return None if device is None else resolved(device), options, copy


def _onto(name: str) -> Any:
    """The handler of `Tensor.cuda` and its like."""

    def handler(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        tensor, *rest = args
        if name != "cpu" and machine().name != name:
            return func(*args, **kwargs)
        wanted = kwargs.get("device", rest[0] if rest else None)
        if isinstance(wanted, bool):
            wanted = None
        device = resolved(name if wanted is None else wanted)
        if device.type != name:
            raise RuntimeError(f"Invalid device, must be {name} device")
        options = {k: v for k, v in kwargs.items() if k == "memory_format"}
        if device == seen_device(tensor):
            return tensor
        return moved(tensor, device, **options)

    return handler


for _name in ("cpu", *NAMES):
    if hasattr(Tensor, _name):
        HANDLERS[getattr(Tensor, _name)] = _onto(_name)


@handles(Tensor.type)
def _type(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tensor, *rest = args
    wanted = rest[0] if rest else kwargs.get("dtype")
    if wanted is None:
        return type_name(tensor)
    if isinstance(wanted, torch.dtype):
        return run(func, args, kwargs)
    words = (wanted if isinstance(wanted, str) else _full_name(wanted)).split(".")
    device = resolved(words[1]) if len(words) == 3 else CPU
    plain = f"torch.{words[-1]}"
    if device == seen_device(tensor):
        return _kept(func(tensor, plain), tensor)
    return moved(func(tensor, plain), device)


def _full_name(kind: Any) -> str:
    """The name of a legacy tensor type as `Tensor.type` takes it: `torch.cuda.FloatTensor`."""
    return f"{kind.__module__}.{kind.__name__}"


@handles(Tensor.type_as)
def _type_as(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tensor = args[0]
    other = args[1] if len(args) > 1 else kwargs["other"]
    device = seen_device(other)
    if device == seen_device(tensor):
        return run(func, args, kwargs)
    return moved(tensor, device, dtype=other.dtype)


@handles(Tensor.copy_, torch._foreach_copy_)
def _copy(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return func(*args, **kwargs)

"""Finds what makes the host wait for a device, as `torch.cuda.set_sync_debug_mode` asks.

A copy between host and device waits unless it is told not to, and so does whatever makes a number,
or a size, of what lies on the device.
"""

from __future__ import annotations

import warnings
from typing import Any, Final

import torch
from torch import Tensor

from runtime_guard.virtual.devices.machine import CPU, machine
from runtime_guard.virtual.devices.names import resolved
from runtime_guard.virtual.dispatch.calls import BEFORE
from runtime_guard.virtual.dispatch.getters import seen_device
from runtime_guard.virtual.dispatch.moves import parsed
from runtime_guard.virtual.notices import depth_of_caller

SYNCHRONIZED: Final = "called a synchronizing CUDA operation"
"""What torch says (c10/cuda/CUDAFunctions.cpp)."""

READING: Final = frozenset(
    getattr(holder, name)
    for holder in (Tensor, torch)
    for name in (
        *("item", "tolist", "__bool__", "__float__", "__int__", "__index__", "__complex__"),
        *("is_nonzero", "nonzero", "argwhere", "masked_select", "equal", "allclose", "bincount"),
        *("unique_consecutive", "_unique2", "unique_dim"),
    )
    if hasattr(holder, name)
)
"""What makes a number, or a size, of the tensor that it is given first."""

FROM_HOST: Final = frozenset({torch.tensor, torch.as_tensor, torch.asarray})
"""What copies data of the host to where they are to lie."""

_modes: list[int] = []


def debug_mode() -> int:
    """What is done where the host waits: 0 for nothing, 1 to warn, 2 to raise."""
    return _modes[-1] if _modes else 0


def set_debug_mode(mode: int) -> None:
    """Say what is done where the host waits."""
    _modes[:] = [mode]
    BEFORE[:] = [check] if mode else []


def report() -> None:
    """Say that the host waits.

    Raises:
        RuntimeError: the mode is to raise; the text is torch's.
    """
    if debug_mode() == 2:
        raise RuntimeError(SYNCHRONIZED)
    if debug_mode():
        warnings.warn(SYNCHRONIZED, UserWarning, stacklevel=depth_of_caller())


def check(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Report a call that makes the host wait."""
    with torch._C.DisableTorchFunction():
        waits = _waits(func, args, kwargs)
    if waits:
        report()


def _waits(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    if func is torch.where and len(args) + len(kwargs) == 1:
        return _is_on_device(next(iter((*args, *kwargs.values()))))
    if func in READING:
        return _is_on_device(args[0] if args else kwargs.get("input"))
    if func in FROM_HOST:
        data = args[0] if args else kwargs.get("data")
        return not isinstance(data, Tensor) and _is_device(kwargs.get("device"))
    if func in (Tensor.__getitem__, Tensor.__setitem__):
        return _is_on_device(args[0]) and _has_mask(args[1]) and not _fills(args)
    return _copies(func, args, kwargs)


def _copies(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    if func is Tensor.copy_:
        waits = not kwargs.get("non_blocking", args[2] if len(args) > 2 else False)
        return waits and _is_across(seen_device(args[0]), seen_device(args[1]))
    if func is Tensor.to:
        device, options, _ = parsed(list(args[1:]), kwargs)
        waits = not options.get("non_blocking", False) and device is not None
        return waits and _is_across(seen_device(args[0]), device)
    if func is Tensor.cpu:
        return _is_on_device(args[0])
    if func is getattr(Tensor, machine().name, None):
        return not kwargs.get("non_blocking", False) and seen_device(args[0]) == CPU
    return False


def _is_across(one: torch.device, other: torch.device | None) -> bool:
    return CPU in (one, other) and one != other


def _is_device(device: Any) -> bool:
    return device is not None and resolved(device) != CPU


def _is_on_device(value: Any) -> bool:
    return isinstance(value, Tensor) and seen_device(value).type == machine().name


def _has_mask(index: Any) -> bool:
    parts = index if isinstance(index, (tuple, list)) else (index,)
    return any(isinstance(one, Tensor) and one.dtype in (torch.bool, torch.uint8) for one in parts)


def _fills(args: tuple[Any, ...]) -> bool:
    """Whether one number is put wherever a mask is true, for which nothing is counted."""
    value = args[2] if len(args) > 2 else None
    return len(args) > 2 and (not isinstance(value, Tensor) or value.numel() == 1)

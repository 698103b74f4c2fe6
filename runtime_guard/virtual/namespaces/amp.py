"""Mixed precision: inside autocast, what an operation is given is cast as CUDA's autocast does.

torch's own autocast goes by the kind of device that a tensor has for C++: that of the CPU. So
operations on a virtual device are cast here, call by call, and autocast of the CPU does not touch
them. Operations that C++ makes of others are cast as a whole.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from runtime_guard.virtual.devices.machine import machine
from runtime_guard.virtual.dispatch.calls import AROUND
from runtime_guard.virtual.dispatch.running import common_device, run
from runtime_guard.virtual.namespaces import precision

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime_guard.virtual.dispatch.calls import Handler
    from runtime_guard.virtual.patching import Patches

_policies: dict[Any, str] = {}


def install(patches: Patches) -> None:
    """Look at every call for as long as a program is inside autocast."""
    if not _policies:
        _policies.update(precision.table())
    kind = torch.amp.autocast_mode.autocast
    patches.put(kind, "__enter__", _entering(kind.__enter__))
    patches.put(kind, "__exit__", _leaving(kind.__exit__))
    patches.at_reset(AROUND.clear)


def _entering(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def __enter__(self: Any) -> Any:  # noqa: N807 - stands for it
        made = original(self)
        AROUND.append(call)
        return made

    return __enter__


def _leaving(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def __exit__(self: Any, *error: Any) -> Any:  # noqa: N807 - stands for it
        if AROUND:
            AROUND.pop()
        return original(self, *error)

    return __exit__


def call(handler: Handler, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a call inside autocast, of which this thread may be inside or not.

    Raises:
        RuntimeError: the operation is refused inside autocast.
    """
    name = machine().name
    policy = _policies.get(func)
    if policy is None or common_device((*args, *kwargs.values())) is None:
        return handler(func, args, kwargs)
    if torch.is_autocast_enabled(name) and "out" not in kwargs:
        if policy == "refuse":
            raise RuntimeError(precision.REFUSED)
        args, kwargs = _cast(policy, torch.get_autocast_dtype(name), args, kwargs)
    if not torch.is_autocast_enabled("cpu"):
        return handler(func, args, kwargs)
    torch.set_autocast_enabled("cpu", False)
    try:
        return handler(func, args, kwargs)
    finally:
        torch.set_autocast_enabled("cpu", True)


def _cast(
    policy: str, lower: torch.dtype, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    given = list(_eligible((*args, *kwargs.values())))
    asked = isinstance(kwargs.get("dtype"), torch.dtype)
    if policy == "widest":
        wide = any(item.dtype is torch.float32 for item in given)
        lower = torch.float32 if wide else lower
        asked = len({item.dtype for item in given}) < 2
    elif policy == "single":
        lower = torch.float32
        asked = asked or any(isinstance(item, torch.dtype) for item in args)
    if asked or all(item.dtype is lower for item in given):
        return args, kwargs
    return _converted(args, lower), {key: _converted(item, lower) for key, item in kwargs.items()}


def _eligible(values: Any) -> Any:
    """The tensors that autocast may cast: of floating point, but not double, and of the device."""
    for value in values:
        if isinstance(value, Tensor):
            if _is_eligible(value):
                yield value
        elif type(value) in (list, tuple):
            yield from _eligible(value)


def _is_eligible(tensor: Tensor) -> bool:
    return (
        tensor.dtype.is_floating_point
        and tensor.dtype is not torch.float64
        and common_device((tensor,)) is not None
    )


def _converted(value: Any, dtype: torch.dtype) -> Any:
    if isinstance(value, Tensor):
        return run(Tensor.to, (value, dtype), {}) if _is_eligible(value) else value
    if type(value) in (list, tuple):
        return type(value)(_converted(item, dtype) for item in value)
    return value

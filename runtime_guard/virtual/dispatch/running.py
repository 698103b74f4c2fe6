"""Runs an operation: at once where all that it is given lies together, else by the rules."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from runtime_guard.virtual.devices.marks import (
    DISPATCHING,
    MARK,
    PLAIN,
    place,
    storage_of,
)

_NONE_YET = object()

DISPATCHED = object()
"""Where a tensor lies whose class runs operators itself: in its inner tensors, which are seen."""


def run(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run an operation; what it makes lives where what it was given does.

    Raises:
        RuntimeError: CUDA would refuse the mix of devices.
    """
    if kwargs and ("device" in kwargs or "generator" in kwargs):
        from runtime_guard.virtual.dispatch.factories import make

        return make(func, args, kwargs)
    common = common_device(args)
    if kwargs and common is not ...:
        common = _agreed(common, common_device(tuple(kwargs.values())))
    if common is ...:
        from runtime_guard.virtual.dispatch.mixing import run_mixed

        return run_mixed(func, args, kwargs)
    made = func(*args, **kwargs)
    if common is not _NONE_YET and common is not None and common is not DISPATCHED:
        place_all(made, common)
    return made


def common_device(values: Any) -> Any:
    """Where all tensors in these lie: a virtual device, None for no mark, Ellipsis for several.

    It is `DISPATCHED` where the class of one runs what is called itself.
    """
    found: Any = _NONE_YET
    for value in values:
        kind = type(value)
        if kind in DISPATCHING:
            return DISPATCHED
        if kind in PLAIN or isinstance(value, Tensor):
            lies: Any = _lies(value, is_plain=kind in PLAIN)
        elif kind is list or kind is tuple:
            lies = common_device(value)
            if lies is _NONE_YET:
                continue
            if lies is DISPATCHED:
                return lies
        else:
            continue
        if found is not lies:
            if found is not _NONE_YET:
                return ...
            found = lies
    return found


def _lies(tensor: Tensor, *, is_plain: bool) -> Any:
    try:
        storage = tensor.untyped_storage() if is_plain else storage_of(tensor)
    except (NotImplementedError, RuntimeError):
        storage = storage_of(tensor)
    mark = getattr(storage, MARK, None)
    return None if mark is None else mark.device


def _agreed(one: Any, other: Any) -> Any:
    if one is _NONE_YET or one is other or other is DISPATCHED:
        return other
    if one is DISPATCHED:
        return one
    return one if other is _NONE_YET else ...


def place_all(made: Any, device: Any) -> None:
    """Let every tensor in what an operation made live on the device."""
    if isinstance(made, Tensor):
        place(made, device)
    elif isinstance(made, (list, tuple)):
        for part in made:
            place_all(part, device)
    elif isinstance(made, dict):
        place_all(list(made.values()), device)

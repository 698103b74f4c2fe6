"""Lets torch's parsers of devices take what they take on a machine with accelerators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import torch
from torch import Tensor

from runtime_guard.virtual.devices.machine import CPU, machine
from runtime_guard.virtual.devices.marks import MARK, StorageMark, device_of
from runtime_guard.virtual.devices.names import is_virtual, resolved

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime_guard.virtual.patching import Patches

WRAPPER_OPTIONS: Final = (
    *("strides", "storage_offset", "memory_format", "dtype", "layout", "device", "pin_memory"),
    *("requires_grad", "dispatch_sizes_strides_policy", "dispatch_device", "dispatch_layout"),
    *("_extra_dispatch_keys", "storage_size"),
)
"""What follows the class and the size of a wrapper, in this order."""


def install(patches: Patches) -> None:
    """Let `Module.to` take an index, and the device of a tensor."""
    original = torch._C._nn._parse_to

    def _parse_to(*args: Any, **kwargs: Any) -> Any:
        other = args[0] if args else kwargs.get("tensor")
        if isinstance(other, Tensor):
            return device_of(other), other.dtype, False, kwargs.get("memory_format")
        words = [torch.device(machine().name, word) if type(word) is int else word for word in args]
        if type(kwargs.get("device")) is int:
            kwargs = {**kwargs, "device": torch.device(machine().name, kwargs["device"])}
        with torch._C.DisableTorchFunction():
            return original(*words, **kwargs)

    patches.put(torch._C._nn, "_parse_to", _parse_to)
    patches.put(Tensor, "_make_wrapper_subclass", staticmethod(_wrapping()))
    _fake_on_host(patches)


def _wrapping() -> Callable[..., Tensor]:
    """Let a class that wraps tensors say on which virtual device it lies: it has no bytes there."""
    original = Tensor._make_wrapper_subclass

    def _make_wrapper_subclass(*args: Any, **kwargs: Any) -> Tensor:
        given = {**dict(zip(WRAPPER_OPTIONS, args[2:], strict=False)), **kwargs}
        device = given.get("device")
        if device is None or not is_virtual(device := resolved(device)):
            return cast("Tensor", original(*args, **kwargs))
        made: Tensor = original(*args[:2], **{**given, "device": CPU})
        with torch._C.DisableTorchFunction():
            setattr(made.untyped_storage(), MARK, StorageMark(device, 0, None))
        return made

    return _make_wrapper_subclass


def _fake_on_host(patches: Patches) -> None:
    """Let FakeTensorMode's tensors, and so DTensor's, be of the CPU and bear marks as all others.

    A build of torch for the CPU copies no fake tensor that says to be on an accelerator.
    """
    from torch._subclasses.fake_tensor import FakeTensor

    if hasattr(FakeTensor, "_normalize_fake_device"):
        normalized = FakeTensor._normalize_fake_device
        faked = staticmethod(lambda device: normalized(_host(device)))
        patches.put(FakeTensor, "_normalize_fake_device", faked)
        return
    new = FakeTensor.__new__

    def fake(cls: Any, mode: Any, made: Any, device: Any, *args: Any, **kwargs: Any) -> Any:
        return new(cls, mode, made, _host(torch.device(device)), *args, **kwargs)

    patches.put(FakeTensor, "__new__", staticmethod(fake))


def _host(device: torch.device) -> torch.device:
    return CPU if device.type == machine().name else device

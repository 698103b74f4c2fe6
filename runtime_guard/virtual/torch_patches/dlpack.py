"""Tensors handed to other libraries, and back: a DLPack capsule names the virtual device.

A library that knows host memory alone refuses it, as it refuses a tensor of a real accelerator.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Final

import torch
from torch.utils import dlpack

from runtime_guard.virtual.devices.machine import interned, machine
from runtime_guard.virtual.devices.marks import mark_of, place

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime_guard.virtual.patching import Patches

CODES: Final = {"cuda": 2, "mps": 8, "xpu": 14}
"""DLPack's numbers of the accelerators (dlpack.h); the CPU is 1."""

OFFSETS: Final = {b"dltensor": 8, b"dltensor_versioned": 40}
"""Where, in what a capsule of this name points at, the type and the index of the device are."""


def install(patches: Patches) -> None:
    """Let capsules name virtual devices."""
    for name in ("_to_dlpack", "_to_dlpack_versioned"):
        if hasattr(torch._C, name):
            patches.put(torch._C, name, _asked_for(getattr(torch._C, name)))
    patches.put(torch._C, "_from_dlpack", _heard(torch._C._from_dlpack))
    for holder in (torch, dlpack):
        if hasattr(holder, "to_dlpack"):
            patches.put(holder, "to_dlpack", torch._C._to_dlpack)


def _device_in(capsule: Any) -> Any:
    """The type and the index of the device in a capsule, as two integers that can be set."""
    valid, pointer = ctypes.pythonapi.PyCapsule_IsValid, ctypes.pythonapi.PyCapsule_GetPointer
    for function in (valid, pointer):
        function.argtypes = [ctypes.py_object, ctypes.c_char_p]
    pointer.restype = ctypes.c_void_p
    for name, offset in OFFSETS.items():
        if valid(capsule, name):
            return (ctypes.c_int32 * 2).from_address(pointer(capsule, name) + offset)
    return None


def _asked_for(export: Callable[..., Any]) -> Callable[..., Any]:
    def to_dlpack(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        with torch._C.DisableTorchFunction():
            capsule = export(tensor, *args, **kwargs)
            device = mark_of(tensor)
        if device is not None:
            _device_in(capsule)[:] = [CODES[device.type], device.index]
        return capsule

    return to_dlpack


def _heard(take: Callable[..., Any]) -> Callable[..., Any]:
    def from_dlpack(capsule: Any, *args: Any) -> Any:
        named = _device_in(capsule)
        code, index = (1, 0) if named is None else named
        if code != CODES[machine().name]:
            return take(capsule, *args)
        named[:] = [1, 0]
        with torch._C.DisableTorchFunction():
            return place(take(capsule, *args), interned(machine().name, index))

    return from_dlpack

"""Lets a storage say on which virtual device it lives, and be made, copied and resized there.

torch.save, torch.load, pickle and copy.deepcopy ask nothing else of a device than what storages
say of themselves: that a file names `cuda:0`, and every form of `map_location`, follow from it.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import torch
from torch import Tensor

from runtime_guard.virtual.devices.machine import CPU
from runtime_guard.virtual.devices.marks import MARK, device_of, marked, place
from runtime_guard.virtual.devices.names import is_virtual, resolved

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runtime_guard.virtual.patching import Patches

Storage: Final = torch.UntypedStorage

DIFFERENT: Final = (
    'Attempted to set the storage of a tensor on device "{0}" to a storage on different device '
    '"{1}".  This is no longer allowed; the devices must match.'
)
"""What torch says where a tensor is to view a storage of another device (Resize.cpp)."""


class _Seen(threading.local):
    """Whether this thread sees storages as they are."""

    plainly = False


_seen = _Seen()


def install(patches: Patches) -> None:
    """Let storages know the virtual devices."""
    device = Storage.device.__get__
    patches.put(Storage, "device", property(lambda storage: _mark(storage) or device(storage)))
    patches.put(Storage, "__new__", staticmethod(_making(Storage.__new__)))
    for name in ("share_memory_", "_share_fd_cpu_", "_share_filename_cpu_"):
        patches.put(Storage, name, _plainly(getattr(Storage, name)))
    patches.put(Storage, "is_shared", _answering_of_sharing(Storage.is_shared))
    patches.put(Storage, "to", _moved)
    patches.put(Tensor, "set_", _setting(Tensor.set_))
    patches.put(Storage, "resize_", _resizing(Storage.resize_))


@contextmanager
def seen_plainly() -> Iterator[None]:
    """Let every storage say that it lies in host memory, as it does, for what shares memory."""
    before = _seen.plainly
    _seen.plainly = True
    try:
        yield
    finally:
        _seen.plainly = before


def is_unseen() -> bool:
    """Whether this thread works as it does outside the block."""
    return _seen.plainly


def place_storage(storage: Any, device: torch.device) -> Any:
    """Let a storage live on a virtual device, and return it; one that lives on one stays there.

    Raises:
        torch.OutOfMemoryError: the device has not so many bytes left.
    """
    if MARK not in storage.__dict__:
        setattr(storage, MARK, marked(storage, device))
    return storage


def _mark(storage: Any) -> torch.device | None:
    mark = storage.__dict__.get(MARK)
    return None if mark is None or _seen.plainly else mark.device


def _making(make: Any) -> Any:
    def new(cls: Any, *args: Any, device: Any = None, **kwargs: Any) -> Any:
        if device is None:
            return make(cls, *args, **kwargs)
        where = resolved(device)
        if not is_virtual(where):
            return make(cls, *args, device=where, **kwargs)
        return place_storage(make(cls, *args, **kwargs), where)

    return new


def _moved(storage: Any, *, device: Any, non_blocking: bool = False) -> Any:
    where = resolved(device)
    if where == storage.device:
        return storage
    return Storage(storage.nbytes(), device=where).copy_(storage, non_blocking)


def _plainly(method: Any) -> Any:
    def of_host_memory(storage: Any, *args: Any, **kwargs: Any) -> Any:
        with seen_plainly():
            return method(storage, *args, **kwargs)

    return of_host_memory


def _answering_of_sharing(is_shared: Any) -> Any:
    def of_any(storage: Any) -> bool:
        return _mark(storage) is not None or bool(is_shared(storage))

    return of_any


def _resizing(resize: Any) -> Any:
    def resize_(storage: Any, size: Any) -> Any:
        mark = storage.__dict__.pop(MARK, None)
        resize(storage, size)
        if mark is not None:
            device = mark.device
            del mark
            place_storage(storage, device)
        return storage

    return resize_


def _setting(set_: Any) -> Any:
    """`Tensor.set_`, which torch does not let a mode see."""

    def set_checked(tensor: Tensor, source: Any = None, *rest: Any, **options: Any) -> Tensor:
        with torch._C.DisableTorchFunction():
            here = device_of(tensor)
            there = here if source is None else _where(source)
            # On `meta`, torch's own fake tensors come by the storage of what they stand for.
            if here != there and tensor.device == CPU:
                raise RuntimeError(DIFFERENT.format(here, there))
            if source is not None:
                return set_(tensor, source, *rest, **options)
            return place(set_(tensor, *rest, **options), here)

    return set_checked


def _where(source: Any) -> torch.device:
    if isinstance(source, Tensor):
        return device_of(source)
    return torch.device(getattr(source, "_untyped_storage", source).device)

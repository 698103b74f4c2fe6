"""Pinned memory, as a flag of the storage, and streams that a tensor is used on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import torch
from torch import Tensor
from torch.utils._device import _device_constructors

from runtime_guard.virtual.devices.marks import mark_of, storage_of
from runtime_guard.virtual.dispatch.calls import HANDLERS
from runtime_guard.virtual.dispatch.getters import type_name
from runtime_guard.virtual.dispatch.running import run

if TYPE_CHECKING:
    from runtime_guard.virtual.dispatch.calls import Handler
    from runtime_guard.virtual.patching import Patches

PINNED: Final = "_virtual_pinned"
"""The attribute of a storage that holds whether its memory is pinned."""

NOT_PINNED: Final = "cannot pin '{}' only dense CPU tensors can be pinned"

NOT_RECORDED: Final = (
    "Could not run 'aten::record_stream' with arguments from the 'CPU' backend. This could be "
    "because the operator doesn't exist for this backend, or was omitted during the "
    "selective/custom build process (if using custom build)."
)

NOT_MADE_PINNED: Final = "Only dense CPU tensors can be pinned"

PINNING: Final = (
    *_device_constructors(),
    *(
        getattr(torch, f"{name}_like")
        for name in ("empty", "full", "ones", "rand", "randint", "randn", "zeros")
    ),
    *(getattr(Tensor, f"new_{name}") for name in ("empty", "full", "ones", "tensor", "zeros")),
)
"""The factories that take `pin_memory`, which a torch without an accelerator cannot do."""


def install(patches: Patches) -> None:
    """Let tensors be pinned, and be used on streams."""
    patches.put(Tensor, "pin_memory", pin_memory)
    patches.put(Tensor, "is_pinned", is_pinned)
    patches.put(Tensor, "record_stream", record_stream)


def pinned(tensor: Tensor) -> Tensor:
    """Let a tensor's memory be pinned, and return the tensor."""
    storage = storage_of(tensor)
    if storage is not None:
        setattr(storage, PINNED, True)
    return tensor


def pin_memory(tensor: Tensor, device: Any = None) -> Tensor:
    """A copy in pinned memory; a tensor that lies there already is returned itself.

    Raises:
        RuntimeError: the tensor is not a dense one on the CPU.
    """
    with torch._C.DisableTorchFunction():
        if mark_of(tensor) is not None or tensor.layout is not torch.strided:
            raise RuntimeError(NOT_PINNED.format(type_name(tensor)))
        return tensor if _flag(tensor) else pinned(tensor.clone())


def is_pinned(tensor: Tensor, device: Any = None) -> bool:
    """Whether a tensor lies in pinned memory."""
    with torch._C.DisableTorchFunction():
        return _flag(tensor)


def _flag(tensor: Tensor) -> bool:
    return bool(getattr(storage_of(tensor), PINNED, False))


def _pinning(make: Handler) -> Handler:
    """The handler of a factory, which pins what it makes where that is asked for."""

    def handler(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if "pin_memory" not in kwargs:
            return make(func, args, kwargs)
        given = dict(kwargs)
        pin = given.pop("pin_memory")
        made = make(func, args, given)
        if pin and mark_of(made) is not None:
            raise RuntimeError(NOT_MADE_PINNED)
        return pinned(made) if pin else made

    return handler


HANDLERS.update({func: _pinning(HANDLERS.get(func, run)) for func in PINNING})


def record_stream(tensor: Tensor, stream: Any) -> None:
    """Nothing: what is done on a virtual stream is done at once.

    Raises:
        NotImplementedError: the tensor lies on the CPU.
    """
    with torch._C.DisableTorchFunction():
        if mark_of(tensor) is None:
            raise NotImplementedError(NOT_RECORDED)

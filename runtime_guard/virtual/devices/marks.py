"""On which virtual device a tensor lives: a mark on its storage.

A storage is one Python object for as long as its memory lives, so a mark on it follows views,
`detach`, `.data`, saved tensors and parameters, and goes when the memory goes. What bears no
mark lies on the CPU, or was made where nothing is seen: inside a backward pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import torch
from torch import Tensor

from runtime_guard.virtual.devices.machine import CPU, is_active, machine
from runtime_guard.virtual.devices.memory import charge

if TYPE_CHECKING:
    from runtime_guard.virtual.devices.machine import Account

META: Final = torch.device("meta")

MARK: Final = "_virtual"
"""The attribute of a storage that holds its mark."""

HOST = "_virtual_host"
"""The attribute of a storage that a program put on the CPU."""

PLAIN: Final = (Tensor, torch.nn.Parameter)
"""The classes of tensors that wrap no other and override nothing."""

DISPATCHING: Final[set[type]] = set()
"""The classes of tensors that run operators themselves, as far as what they call is seen."""

NOT_ON_MPS: Final = frozenset({torch.float64, torch.complex128})
"""The dtypes of which MPS refuses to hold tensors."""

WIDE: Final = (
    "Cannot convert a MPS Tensor to {0} dtype as the MPS framework doesn't support {0}. Please "
    "use float32 instead."
)
"""How it says so (aten/src/ATen/mps/EmptyTensor.cpp)."""

FORKED = (
    "Cannot re-initialize {0} in forked subprocess. To use {0} with multiprocessing, you must "
    "use the 'spawn' start method"
)
"""What torch says in a process that was forked off one that had used the device."""


class StorageMark:
    """Says where a storage lives, and gives its bytes back when it goes."""

    __slots__ = ("account", "device", "size")

    def __init__(self, device: torch.device, size: int, account: Account | None) -> None:
        self.device = device
        self.size = size
        self.account = account

    def __repr__(self) -> str:
        return f"StorageMark({self.device}, {self.size} bytes)"

    def __del__(self) -> None:
        if self.account is not None:
            self.account.release(self.size)


def storage_of(tensor: Tensor) -> Any:
    """What bears the mark of a tensor: its storage, or the tensor where torch shows none.

    A sparse tensor's is that of its values, a wrapper's (DTensor, functorch) that of what it wraps.
    """
    try:
        if type(tensor) in PLAIN:
            return tensor.untyped_storage()
        with torch._C.DisableTorchFunction():
            if hasattr(tensor, "__tensor_flatten__"):
                return _wrapped_storage(tensor)
            return tensor.untyped_storage()
    except (NotImplementedError, RuntimeError):
        return _inner_storage(tensor)


def _wrapped_storage(tensor: Any) -> Any:
    """Its own, if it was said where it lies; else that of the first tensor that it is made of."""
    own = tensor.untyped_storage()
    if hasattr(own, MARK):
        return own
    names, _ = tensor.__tensor_flatten__()
    return storage_of(getattr(tensor, names[0])) if names else None


def _inner_storage(tensor: Tensor) -> Any:
    if torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        return storage_of(torch._C._functorch.get_unwrapped(tensor))
    layout = tensor.layout
    if layout is torch.sparse_coo:
        return storage_of(tensor._values())
    if layout in (torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc):
        return storage_of(tensor.values())
    # `is_grads_batched` hides what it has batched, and MKL-DNN what it has laid out.
    return tensor


def mark_of(tensor: Tensor) -> torch.device | None:
    """The virtual device of a tensor; None where it bears no mark.

    To be called where no call of torch is seen by the mode: inside a handler, or a patch.
    """
    mark = getattr(storage_of(tensor), MARK, None)
    return None if mark is None else mark.device


def any_on_device(values: Any) -> bool:
    """Whether a tensor among these lies on a virtual device, seen by the mode or not."""
    with torch._C.DisableTorchFunction():
        return any(isinstance(one, Tensor) and mark_of(one) is not None for one in values)


def device_of(tensor: Tensor) -> torch.device:
    """The device of a tensor as a script sees it; what bears no mark is where torch has it."""
    return mark_of(tensor) or tensor.device


def keep_on_host(tensor: Tensor) -> Tensor:
    """Let a tensor without a mark lie on the CPU inside backward passes as well, and return it."""
    storage = storage_of(tensor)
    if storage is not None:
        setattr(storage, HOST, True)
    return tensor


def claimed(tensor: Tensor) -> torch.device | None:
    """Where a tensor is known to lie inside a backward pass; None if that may be anywhere."""
    device = mark_of(tensor)
    if device is None and hasattr(storage_of(tensor), HOST):
        return CPU
    return device


def place(tensor: Tensor, device: torch.device) -> Tensor:
    """Let a tensor's storage live on the device, and return the tensor.

    A storage that bears a mark already keeps it: views share their storage. So does one that was
    put on the CPU.

    Raises:
        TypeError: the device holds no tensors of this dtype.
    """
    storage = storage_of(tensor)
    if storage is None or device in (CPU, META):
        return tensor
    if MARK in storage.__dict__ or HOST in storage.__dict__:
        return tensor
    if is_active():
        # A graph that was made inside a block may be gone back through outside.
        if device.type == "mps" and tensor.dtype in NOT_ON_MPS:
            raise TypeError(WIDE.format(str(tensor.dtype).removeprefix("torch.")))
        setattr(storage, MARK, marked(storage, device))
    return tensor


def marked(storage: Any, device: torch.device) -> StorageMark:
    """A mark for a storage, with its bytes charged to the device.

    Raises:
        torch.OutOfMemoryError: the device has not so many bytes left.
        RuntimeError: this process was forked off one that had used the device.
    """
    here = machine()
    if here.forked:
        raise RuntimeError(FORKED.format(device.type.upper()))
    account = here.account_of.get(device)
    if account is None:
        return StorageMark(device, 0, None)
    size: int = 0 if isinstance(storage, Tensor) else storage.nbytes()
    charge(account, device, size)
    return StorageMark(device, size, account)

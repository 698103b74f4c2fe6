"""What virtual memory costs: the account of each device, and CUDA's error where it has no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from runtime_guard._virtual.machine import Account

MIB = 1024**2
GIB = 1024**3


def charge(account: Account, device: torch.device, size: int) -> None:
    """Put bytes to an account.

    Raises:
        torch.OutOfMemoryError: the device has not so many left; the text is CUDA's.
    """
    total = account.allocated + size
    if account.limit is not None and total > account.limit:
        raise torch.OutOfMemoryError(refusal(account, device, size))
    account.allocated = total
    account.allocations += 1
    account.peak = max(account.peak, total)


def refusal(account: Account, device: torch.device, size: int) -> str:
    """The text of CUDA's caching allocator, as far as it can be known here."""
    free = account.total - account.allocated
    return (
        f"CUDA out of memory. Tried to allocate {_readable(size)}. GPU {device.index} has a total "
        f"capacity of {_readable(account.total)} of which {_readable(free)} is free. Of the "
        f"allocated memory {_readable(account.allocated)} is allocated by PyTorch, and 0 bytes is "
        "reserved by PyTorch but unallocated."
    )


def _readable(size: int) -> str:
    if size < 1024:
        return f"{size} bytes"
    if size < MIB:
        return f"{size / 1024:.2f} KiB"
    return f"{size / MIB:.2f} MiB" if size < GIB else f"{size / GIB:.2f} GiB"

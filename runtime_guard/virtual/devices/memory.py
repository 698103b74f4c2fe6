"""What virtual memory costs: the account of each device, and torch's error where it has no more.

Bytes are counted exactly, as tensors ask for them; CUDA rounds each up to 512. What a backward
pass holds only while it runs is not counted, the gradients that it leaves are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import torch
from torch import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from runtime_guard.virtual.devices.machine import Account

MIB = 1024**2
GIB = 1024**3

SEGMENT: Final = 2 * MIB
"""What CUDA's caching allocator reserves memory in (c10/cuda/CUDACachingAllocator.cpp)."""

ADVICE: Final = {
    "cuda": (
        " If reserved but unallocated memory is large try setting PYTORCH_ALLOC_CONF="
        "expandable_segments:True to avoid fragmentation.  See documentation for Memory Management"
        "  (https://docs.pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-with-"
        "pytorch-cuda-alloc-conf)"
    ),
    "xpu": " Please use `empty_cache` to release all unoccupied cached memory.",
}
"""How their allocators end what they say (CUDACachingAllocator.cpp, XPUCachingAllocator.cpp)."""


def charge(account: Account, device: torch.device, size: int) -> None:
    """Put the bytes of a storage to an account.

    Raises:
        torch.OutOfMemoryError: the device has not so many left; the text is its allocator's.
        RuntimeError: the same, of MPS.
    """
    total = account.allocated + size
    if account.allowed is not None and total > account.allowed:
        account.refusals += 1
        raise refusal(account, device, size)
    account.allocated = total
    account.allocations += 1
    account.live += 1
    account.ever += size
    account.peak = max(account.peak, total)
    if total > account.reserved:
        account.reserved = -(-total // SEGMENT) * SEGMENT
        account.reserved_peak = max(account.reserved_peak, account.reserved)


def refusal(account: Account, device: torch.device, size: int) -> RuntimeError:
    """The error of a device's allocator, as far as it can be known here."""
    allowed = account.total if account.allowed is None else account.allowed
    if device.type == "mps":
        return RuntimeError(
            f"MPS backend out of memory (MPS allocated: {readable(account.allocated)}, other "
            f"allocations: 0 bytes, max allowed: {readable(allowed)}). Tried to allocate "
            f"{readable(size)} on private pool. Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 to "
            "disable upper limit for memory allocations (may cause system failure)."
        )
    said = "" if allowed == account.total else f"{readable(allowed)} allowed; "
    kind: type[RuntimeError] = torch.OutOfMemoryError
    return kind(
        f"{device.type.upper()} out of memory. Tried to allocate {readable(size)}. GPU "
        f"{device.index} has a total capacity of {readable(account.total)} of which "
        f"{readable(account.total - account.allocated)} is free. {said}Of the allocated memory "
        f"{readable(account.allocated)} is allocated by PyTorch, and 0 bytes is reserved by "
        f"PyTorch but unallocated.{ADVICE[device.type]}"
    )


def readable(size: int) -> str:
    """A number of bytes as the allocators write it."""
    if size < 1024:
        return f"{size} bytes"
    if size < MIB:
        return f"{size / 1024:.2f} KiB"
    return f"{size / MIB:.2f} MiB" if size < GIB else f"{size / GIB:.2f} GiB"


def settle(roots: Iterable[Any]) -> None:
    """Let the gradients that a backward pass has left lie where what they belong to does.

    To be called at the end of a pass, with the tensors that it began at, where no call of torch is
    seen by the mode: then gradients that no program has read yet are charged.

    Raises:
        torch.OutOfMemoryError: they do not fit.
    """
    from runtime_guard.virtual.devices.marks import mark_of, place

    for leaf in leaves(roots):
        gradient = leaf.grad
        device = None if gradient is None else mark_of(leaf)
        if gradient is not None and device is not None:
            place(gradient, device)


def leaves(roots: Iterable[Any]) -> Iterator[Tensor]:
    """The tensors in which the graph behind these accumulates gradients."""
    tensors = [root for root in roots if isinstance(root, Tensor) and root.requires_grad]
    yield from (root for root in tensors if root.is_leaf)
    waiting = [root.grad_fn for root in tensors if root.grad_fn is not None]
    seen = set(waiting)
    while waiting:
        node = waiting.pop()
        if type(node).__name__ == "AccumulateGrad":
            yield node.variable
            continue
        for behind, _ in node.next_functions:
            if behind is not None and behind not in seen:
                seen.add(behind)
                waiting.append(behind)

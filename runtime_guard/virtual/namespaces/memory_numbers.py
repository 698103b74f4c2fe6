"""What is known of memory: the accounts of the machine, in the words of torch's allocators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import torch

from runtime_guard.virtual.devices.machine import machine
from runtime_guard.virtual.devices.memory import SEGMENT, charge
from runtime_guard.virtual.namespaces.native import constant, stand_in_all
from runtime_guard.virtual.notices import once

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime_guard.virtual.devices.machine import Account
    from runtime_guard.virtual.patching import Patches

COUNTED: Final = (
    "allocation segment active inactive_split allocated_bytes reserved_bytes active_bytes "
    "inactive_split_bytes requested_bytes"
).split()
"""What the allocators count for each of their pools."""

OVERSIZED: Final = ("oversize_allocations", "oversize_segments")
EVENTS: Final = ("num_alloc_retries", "num_sync_all_streams", "num_device_free")

_raw: dict[int, tuple[Account, int]] = {}


def install(patches: Patches) -> None:
    """Let memory be asked for."""
    for name in ("cuda", "xpu"):
        stand_in_all(patches, torch._C, name, _natives(name))
    stand_in_all(patches, torch._C, "cuda", _of_cuda())
    stand_in_all(patches, torch._C, None, _accelerator())
    patches.at_reset(_raw.clear)


def account(index: int | None = None) -> Account:
    """The account of a device; of the current one if none is named.

    Raises:
        RuntimeError: there is none of this index; the text is the allocators'.
    """
    here = machine()
    chosen = here.current if index is None else index
    if not 0 <= chosen < len(here.accounts):
        raise RuntimeError(f"Invalid device argument {chosen}: did you call init?")
    return here.accounts[chosen]


def statistics(index: int) -> dict[str, Any]:
    """The statistics of a device, as the allocators nest them; no pool is small."""
    own = account(index)
    count = _figures(own.live, own.live, own.allocations)
    size = _figures(own.allocated, own.peak, own.ever)
    held = _figures(own.reserved, own.reserved_peak, own.reserved_peak)
    none = _figures(0, 0, 0)
    segments = _figures(*(held[word] // SEGMENT for word in ("current", "peak", "allocated")))
    known = {
        "allocation": count,
        "active": count,
        "segment": segments,
        "allocated_bytes": size,
        "active_bytes": size,
        "requested_bytes": size,
        "reserved_bytes": held,
    }
    stats: dict[str, Any] = {"num_ooms": own.refusals, "num_device_alloc": segments["allocated"]}
    for word in COUNTED:
        figures = known.get(word, none)
        stats[word] = {"all": figures, "large_pool": figures, "small_pool": none}
    stats.update(dict.fromkeys(OVERSIZED, none))
    stats.update(dict.fromkeys(EVENTS, 0))
    return {**stats, "max_split_size": -1}


def _figures(current: int, peak: int, ever: int) -> dict[str, int]:
    return {"current": current, "peak": peak, "allocated": ever, "freed": ever - current}


def free_and_total(index: int) -> tuple[int, int]:
    """What is free on a device, and what it has; what is reserved is not free."""
    own = account(index)
    return own.total - min(own.total, max(own.reserved, own.allocated)), own.total


def empty_cache() -> None:
    """Hold no more than what is in use."""
    for own in machine().accounts:
        own.reserved = -(-own.allocated // SEGMENT) * SEGMENT


def reset_ever(index: int) -> None:
    """Let what was ever placed begin anew at what lives now."""
    own = account(index)
    own.ever, own.refusals = own.allocated, 0


def limit(fraction: float, index: int) -> None:
    """Let a part of a device's memory be all that may be used."""
    own = account(index)
    own.allowed = own.limit if fraction == 1 else int(own.total * fraction)


def fraction(index: int) -> float:
    """The part of a device's memory that may be used."""
    own = account(index)
    return 1.0 if own.allowed is None else own.allowed / own.total


def snapshot(*_selection: Any) -> dict[str, list[Any]]:
    """A snapshot of the allocator: there is none, and nothing is known but sums."""
    once("memory_snapshot", "memory snapshots are empty: only sums of bytes are kept")
    return {"segments": [], "device_traces": [], "allocator_settings": {}}  # type: ignore[dict-item]


def _natives(name: str) -> dict[str, Callable[..., Any]]:
    table: dict[str, Callable[..., Any]] = {
        "memoryStats": statistics,
        "getMemoryInfo": free_and_total,
        "resetPeakMemoryStats": lambda index: account(index).reset_peak(),
        "resetAccumulatedMemoryStats": reset_ever,
        "emptyCache": empty_cache,
        "setMemoryFraction": limit,
        "getMemoryFraction": fraction,
        "memorySnapshot": snapshot,
    }
    return {f"_{name}_{attribute}": function for attribute, function in table.items()}


def _of_cuda() -> dict[str, Callable[..., Any]]:
    return {
        "_cuda_ipc_collect": constant(None),
        "_cuda_hostMemoryStats": constant({}),
        "_cuda_resetAccumulatedHostMemoryStats": constant(None),
        "_cuda_resetPeakHostMemoryStats": constant(None),
        "_cuda_getAllocatorBackend": constant("native"),
        "_cuda_cudaCachingAllocator_raw_alloc": _allocate,
        "_cuda_cudaCachingAllocator_raw_delete": _delete,
        "_cuda_cudaCachingAllocator_enable": constant(None),
        "_cuda_cudaCachingAllocator_is_enabled": constant(True),
        "_cuda_setMemoryMetadata": constant(None),
        "_cuda_getMemoryMetadata": constant(""),
        "_cuda_record_memory_history": _no_history,
        "_cuda_record_memory_history_legacy": _no_history,
        "_cuda_isHistoryEnabled": constant(False),
        "_host_emptyCache": constant(None),
    }


def _accelerator() -> dict[str, Callable[..., Any]]:
    return {
        "_accelerator_isAllocatorInitialized": constant(True),
        "_accelerator_getDeviceStats": statistics,
        "_accelerator_getMemoryInfo": free_and_total,
        "_accelerator_resetPeakStats": lambda index: account(index).reset_peak(),
        "_accelerator_resetAccumulatedStats": reset_ever,
        "_accelerator_emptyCache": empty_cache,
        "_accelerator_emptyHostCache": constant(None),
        "_accelerator_setAllocatorSettings": constant(None),
        "_accelerator_getAllocatorSettings": constant(""),
    }


def _no_history(*_arguments: Any, **_options: Any) -> None:
    once("memory_history", "no history of memory is recorded: only sums of bytes are kept")


def _allocate(size: int, _stream: int) -> int:
    """Charge bytes that no tensor holds, and give an address that stands for them."""
    here = machine()
    own = account()
    charge(own, here.devices[here.current], size)
    address = 512 * (1 + own.allocations)
    _raw[address] = (own, size)
    return address


def _delete(address: int) -> None:
    own, size = _raw.pop(address)
    own.release(size)

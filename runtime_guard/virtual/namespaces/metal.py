"""What `torch.mps` is made of."""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING, Any

import torch

from runtime_guard.virtual.devices.machine import machine
from runtime_guard.virtual.namespaces.memory_numbers import account, empty_cache
from runtime_guard.virtual.namespaces.native import constant, stand_in_all
from runtime_guard.virtual.namespaces.seeding import defaults
from runtime_guard.virtual.notices import once

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime_guard.virtual.patching import Patches

# Only events whose number is positive are released by torch, which would fail after the block.
_numbers = itertools.count(-1, -1)
_moments: dict[int, float] = {}


def install(patches: Patches) -> None:
    """Let Apple's devices be waited for, measured and seeded."""
    stand_in_all(patches, torch._C, "mps", _natives())
    patches.at_reset(_moments.clear)


def _natives() -> dict[str, Callable[..., Any]]:
    table: dict[str, Callable[..., Any]] = {
        "is_available": constant(True),
        "is_in_bad_fork": lambda: machine().forked,
        "is_on_macos_or_newer": constant(True),
        "get_default_generator": lambda: defaults()[0],
        "deviceSynchronize": constant(None),
        "emptyCache": empty_cache,
        "setMemoryFraction": _limit,
        "currentAllocatedMemory": lambda: account(0).allocated,
        "driverAllocatedMemory": lambda: account(0).reserved,
        "recommendedMaxMemory": lambda: account(0).total,
        "acquireEvent": lambda _timed: next(_numbers),
        "recordEvent": lambda number: _moments.__setitem__(number, time.perf_counter()),
        "waitForEvent": constant(None),
        "synchronizeEvent": constant(None),
        "queryEvent": lambda number: number in _moments,
        "elapsedTimeOfEvents": lambda one, other: (_moments[other] - _moments[one]) * 1000,
        "profilerStartTrace": _no_trace,
        "profilerStopTrace": constant(None),
        "isCaptureEnabled": constant(False),
        "isCapturing": constant(False),
    }
    return {f"_mps_{attribute}": function for attribute, function in table.items()}


def _limit(fraction: float) -> None:
    """A part of the memory, which may be more than all; 0 stands for no limit."""
    own = account(0)
    own.allowed = own.limit if fraction in (0, 1) else int(own.total * fraction)


def _no_trace(*_arguments: Any) -> None:
    once("mps_profiler", "nothing is traced: no work is sent to Metal")

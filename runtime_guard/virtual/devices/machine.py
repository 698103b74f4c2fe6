"""The virtual machine: how many accelerators it has, of which kind, and what lies on each."""

from __future__ import annotations

import threading
from functools import cache
from typing import TYPE_CHECKING, Final

import torch

from runtime_guard.machines import in_effect
from runtime_guard.settings import ACCELERATORS

if TYPE_CHECKING:
    from runtime_guard.settings import VirtualMachine

NAMES: Final = ACCELERATORS
"""The kinds of accelerator that a machine can have."""

DEFAULT_BYTES: Final = 80 * 1024**3
"""What `total_memory` says where no size was asked for: nothing runs out then."""

CPU: Final = torch.device("cpu")


@cache
def interned(name: str, index: int) -> torch.device:
    """The device of this name and index: one object, so that `is` compares devices."""
    return torch.device(name, index)


class Account:
    """The memory of one virtual device.

    Attributes:
        limit: bytes that it has; None where nothing was asked for, and nothing runs out.
        allowed: bytes that may be used of it; None where nothing runs out.
        allocated: bytes of the storages that live on it now.
        peak: the most there were since the peak was last reset.
        allocations: how many storages were ever placed on it.
        live: how many live on it now.
        ever: bytes of all that were ever placed on it.
        reserved: bytes that an allocator that keeps what was freed would hold now.
        reserved_peak: the most it would have held since the peak was last reset.
        refusals: how often there was not enough.
    """

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        self.allowed = limit
        self.allocated = self.peak = self.reserved = self.reserved_peak = 0
        self.allocations = self.live = self.ever = self.refusals = 0

    @property
    def total(self) -> int:
        """What the device says that it has, in bytes."""
        return DEFAULT_BYTES if self.limit is None else self.limit

    def release(self, size: int) -> None:
        """Take a storage that is gone off the account."""
        self.allocated -= size
        self.live -= 1

    def reset_peak(self) -> None:
        """Let the peaks begin anew at what lives now."""
        self.peak = self.allocated
        self.reserved_peak = self.reserved


class Machine:
    """A machine with accelerators of one name.

    Attributes:
        asked: what was asked for.
        name: the type of its devices: `cuda`, `mps` or `xpu`.
        devices: its devices, in order.
        accounts: the memory of each.
        account_of: the same, by device.
        forked: whether this process was forked off one that had used the devices, which cannot
            be used here then.
    """

    def __init__(self, asked: VirtualMachine) -> None:
        memory = None if asked.memory_gb is None else int(asked.memory_gb * 1024**3)
        self.asked = asked
        self.name = asked.name
        self.devices = tuple(interned(asked.name, index) for index in range(asked.count))
        self.accounts = tuple(Account(memory) for _ in range(asked.count))
        self.account_of = dict(zip(self.devices, self.accounts, strict=True))
        self.forked = False
        self._thread = threading.local()

    def __repr__(self) -> str:
        return f"Machine({len(self.devices)} x {self.name})"

    @property
    def is_used(self) -> bool:
        """Whether anything was placed on a device, or was to be."""
        return any(each.allocations or each.refusals for each in self.accounts)

    @property
    def current(self) -> int:
        """The index of this thread's current device."""
        index: int = getattr(self._thread, "index", 0)
        return index

    @current.setter
    def current(self, index: int) -> None:
        self._thread.index = index

    @property
    def passes(self) -> list[torch.device | None]:
        """Where the backward passes began that this thread is in, the innermost last."""
        if not hasattr(self._thread, "passes"):
            self._thread.passes = []
        passes: list[torch.device | None] = self._thread.passes
        return passes


_machines: list[Machine] = in_effect


def machine() -> Machine:
    """The machine that is in effect: that of the innermost block.

    Raises:
        IndexError: none is.
    """
    return _machines[-1]


def is_active() -> bool:
    """Whether a virtual machine is in effect in this process."""
    return bool(_machines)

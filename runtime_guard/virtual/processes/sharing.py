"""Lets tensors travel between processes with their device, and child processes find the machine.

CUDA shares the memory of a tensor that is sent to another process, and so does the host memory
that stands for it here.
"""

from __future__ import annotations

import os
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import ForkingPickler
from typing import TYPE_CHECKING, Any

import torch
from torch.multiprocessing import reductions

from runtime_guard.virtual.devices.machine import _machines, is_active, machine
from runtime_guard.virtual.devices.marks import MARK
from runtime_guard.virtual.devices.names import resolved
from runtime_guard.virtual.devices.storages import place_storage, seen_plainly
from runtime_guard.virtual.processes.spawned import begun

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime_guard.virtual.patching import Patches


def install(patches: Patches) -> None:
    """Let tensors, storages and processes be sent."""
    reducers = ForkingPickler._extra_reducers  # type: ignore[attr-defined]
    for kind, reduce in list(reducers.items()):
        if reduce is reductions.reduce_tensor:
            patches.put_item(reducers, kind, _of_tensor(reduce))
        elif reduce is reductions.reduce_storage:
            patches.put_item(reducers, kind, _of_storage(reduce))
    patches.put(BaseProcess, "__reduce_ex__", _of_process)
    patches.put(torch.cuda, "_is_in_bad_fork", _is_in_bad_fork)
    patches.put(torch.xpu, "_is_in_bad_fork", _is_in_bad_fork)


def _is_in_bad_fork() -> bool:
    return is_active() and machine().forked


def _of_tensor(reduce: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def reduce_tensor(tensor: Any) -> Any:
        with torch._C.DisableTorchFunction(), seen_plainly():
            return reduce(tensor)

    return reduce_tensor


def _of_storage(reduce: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def reduce_storage(storage: Any) -> Any:
        with seen_plainly():
            rebuild, args = reduce(storage)
        mark = storage.__dict__.get(MARK)
        return (rebuild, args) if mark is None else (rebuilt, (str(mark.device), rebuild, args))

    return reduce_storage


def rebuilt(device: str, rebuild: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """A storage that another process sent, on its virtual device where there is one."""
    storage = rebuild(*args)
    return place_storage(storage, resolved(device)) if is_active() else storage


def _of_process(process: BaseProcess, protocol: Any) -> Any:
    """Let a process that is spawned make the machine before it reads what it is given."""
    reduced: Any = object.__reduce_ex__(process, protocol)
    make, args, *rest = reduced
    here = machine()
    return (begun, (here.asked, make, args), *rest)


def _after_fork() -> None:
    """CUDA, once it was used, cannot be used in a process forked off."""
    for each in _machines:
        initialised = getattr(getattr(torch, each.name), "_initialized", False)
        used = initialised or any(account.allocations for account in each.accounts)
        each.forked = each.forked or used


os.register_at_fork(after_in_child=_after_fork)

"""Lets every thread that begins inside the block find the virtual machine."""

from __future__ import annotations

import threading
from concurrent.futures.thread import _WorkItem
from typing import TYPE_CHECKING, Any

from runtime_guard.virtual.devices.machine import is_active
from runtime_guard.virtual.dispatch.mode import VirtualMode

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime_guard.virtual.patching import Patches


def install(patches: Patches) -> None:
    """See the calls of new threads, and those of what older pools of threads are given to do."""
    patches.put(threading.Thread, "_bootstrap_inner", _seen(threading.Thread._bootstrap_inner))  # type: ignore[attr-defined]
    patches.put(_WorkItem, "run", _seen(_WorkItem.run))


def _seen(run: Callable[..., None]) -> Callable[..., None]:
    def run_seen(self: Any, *args: Any) -> None:
        from runtime_guard.virtual.dispatch.mode import in_effect

        if not is_active() or in_effect():
            run(self, *args)
            return
        with VirtualMode():
            run(self, *args)

    return run_seen

"""What a spawned process does first: it makes the machine of its parent.

Nothing is imported here with the module. A process comes to it before it has torch, and where the
environment asks for a machine, that is made at the moment torch is there: it needs the modules
beside this one whole.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime_guard.settings import VirtualMachine


def begun(asked: VirtualMachine, make: Callable[..., Any], args: Any) -> Any:
    """Make the machine of the parent process, for as long as this one lives, and a process."""
    importlib.import_module("torch")
    from runtime_guard.virtual.devices.machine import is_active

    if not is_active():
        from runtime_guard.virtual.block import VirtualGpu

        VirtualGpu(asked).__enter__()
    return make(*args)

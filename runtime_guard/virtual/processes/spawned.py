"""What a spawned process does first: it makes the machine of its parent.

Nothing is imported here with the module. A process comes to it before it has torch, and where the
environment asks for a machine, that is made at the moment torch is there: it needs the modules
beside this one whole.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable


Asked: TypeAlias = "tuple[int, str, int | None, str | None]"
"""How many devices, of which name, how many bytes on each, and of which version of CUDA."""


def begun(asked: Asked, make: Callable[..., Any], args: Any) -> Any:
    """Make the machine of the parent process, for as long as this one lives, and a process."""
    importlib.import_module("torch")
    from runtime_guard.virtual.devices.machine import is_active

    if not is_active():
        from runtime_guard.virtual.block import VirtualGpu

        count, name, limit, cuda = asked
        VirtualGpu(count, name, None if limit is None else limit / 1024**3, cuda).__enter__()
    return make(*args)

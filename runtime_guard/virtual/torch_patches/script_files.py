"""Files of TorchScript: torch writes tensors of the CPU, and where they lay stands beside them."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any, Final

import torch
from torch.jit import RecursiveScriptModule

from runtime_guard.virtual.devices.marks import mark_of, place
from runtime_guard.virtual.devices.names import is_virtual, resolved
from runtime_guard.virtual.torch_patches.scripting import state_of
from runtime_guard.virtual.torch_patches.unseeing import unseen

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime_guard.virtual.patching import Patches

PLACES: Final = "virtual_devices.json"
"""The extra file of an archive that says where parameters and buffers lay, by name."""


def install(patches: Patches) -> None:
    """Let compiled modules be saved and loaded with the devices of their tensors."""
    for name in ("save", "save_to_buffer"):
        original = getattr(RecursiveScriptModule, name)
        patches.put(RecursiveScriptModule, name, _saving(original))
    patches.put(torch.jit, "load", functools.wraps(torch.jit.load)(_loading(torch.jit.load)))


def _saving(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def save(self: Any, *args: Any, _extra_files: Any = None, **kwargs: Any) -> Any:
        with torch._C.DisableTorchFunction():
            marks = {name: mark_of(tensor) for name, tensor in state_of(self).items()}
        places = {name: str(mark) for name, mark in marks.items() if mark is not None}
        files = {**(_extra_files or {}), **({PLACES: json.dumps(places)} if places else {})}
        return original(self, *args, _extra_files=files, **kwargs)

    return save


def _loading(original: Callable[..., Any]) -> Callable[..., Any]:
    def load(f: Any, map_location: Any = None, _extra_files: Any = None, **kwargs: Any) -> Any:
        files = {} if _extra_files is None else _extra_files
        files[PLACES] = ""
        target = None if map_location is None else resolved(map_location)
        host = "cpu" if target is not None and is_virtual(target) else map_location
        with unseen():
            made = original(f, map_location=host, _extra_files=files, **kwargs)
        text, held = files.pop(PLACES), state_of(made)
        places = json.loads(text or "{}") if target is None else dict.fromkeys(held, target)
        with torch._C.DisableTorchFunction():
            for name, tensor in held.items():
                if name in places:
                    place(tensor, resolved(places[name]))
        return made

    return load

"""Lets torch's parsers of devices take what they take on a machine with accelerators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from runtime_guard._virtual.machine import machine
from runtime_guard._virtual.marks import device_of

if TYPE_CHECKING:
    from runtime_guard._virtual.patching import Patches


def install(patches: Patches) -> None:
    """Let `Module.to` take an index, and the device of a tensor."""
    original = torch._C._nn._parse_to

    def _parse_to(*args: Any, **kwargs: Any) -> Any:
        if args and isinstance(args[0], Tensor):
            return device_of(args[0]), args[0].dtype, False, kwargs.get("memory_format")
        words = [torch.device(machine().name, word) if type(word) is int else word for word in args]
        if type(kwargs.get("device")) is int:
            kwargs = {**kwargs, "device": torch.device(machine().name, kwargs["device"])}
        return original(*words, **kwargs)

    patches.put(torch._C._nn, "_parse_to", _parse_to)

"""Nested tensors, which torch makes of tensors or numbers where no mode sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from runtime_guard.virtual.devices.machine import CPU
from runtime_guard.virtual.devices.marks import place
from runtime_guard.virtual.devices.names import resolved
from runtime_guard.virtual.dispatch.calls import handles
from runtime_guard.virtual.dispatch.getters import seen_device

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runtime_guard.virtual.patching import Patches

OPTIONS = ("dtype", "layout", "device", "pin_memory")
"""What may follow the tensors that a nested one is made of, in this order."""


def install(patches: Patches) -> None:
    """Let nested tensors lie where they are to, or with the first that they are made of."""
    original = torch._C._nested.nested_tensor

    def nested_tensor(parts: Sequence[Any], *args: Any, device: Any = None, **kwargs: Any) -> Any:
        with torch._C.DisableTorchFunction():
            return place(original(parts, *args, **kwargs), _chosen(device, parts))

    patches.put(torch._C._nested, "nested_tensor", nested_tensor)


@handles(torch._nested_tensor_from_tensor_list)
def _from_tensors(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    given = {**dict(zip(OPTIONS, args[1:], strict=False)), **kwargs}
    device = _chosen(given.pop("device", None), args[0])
    return place(func(args[0], **given), device)


def _chosen(device: Any, parts: Sequence[Any]) -> torch.device:
    if device is not None:
        return resolved(device)
    return next((seen_device(part) for part in parts if isinstance(part, Tensor)), CPU)

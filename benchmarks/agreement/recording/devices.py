"""Where a tensor or a module is, read without being seen: no call reaches a mode or a subclass."""

from __future__ import annotations

import sys
from typing import Any

MOST_TENSORS = 64
"""Of a module, so many parameters and buffers are looked at."""

NOTHING, TENSOR, PARAMETER, MODULE = range(4)
"""What a value can be."""

NAMES = ("", "tensor", "parameter", "module")


def kind_of(kind: type) -> int:
    """What the values of a class are; nothing that is noted, as long as there is no torch."""
    torch: Any = sys.modules.get("torch")
    nn = getattr(torch, "nn", None)
    if nn is None or not hasattr(nn, "Parameter"):
        return NOTHING
    if issubclass(kind, torch.Tensor):
        return PARAMETER if issubclass(kind, nn.Parameter) else TENSOR
    return MODULE if issubclass(kind, nn.Module) else NOTHING


class DeviceReader:
    """Reads devices; what says so little of itself that nothing can be read is "unreadable"."""

    def __init__(self) -> None:
        self._names: dict[Any, str] = {}

    def of_tensor(self, tensor: Any) -> tuple[str, bool]:
        """The device of a tensor, and whether it is 0-dim."""
        torch: Any = sys.modules["torch"]
        try:
            with torch._C.DisableTorchFunction():
                return self._name(self._device(tensor)), tensor.dim() == 0
        except Exception:  # noqa: BLE001 - whatever a subclass of tensors does
            return "unreadable", False

    def of_module(self, module: Any) -> str:
        """The device of all parameters and buffers; several, joined by "+"; or "none"."""
        torch: Any = sys.modules["torch"]
        found: set[str] = set()
        try:
            with torch._C.DisableTorchFunction():
                for tensor in tensors_of(module):
                    found.add(self._name(self._device(tensor)))
        except Exception:  # noqa: BLE001 - as above
            return "unreadable"
        return "+".join(sorted(found)) or "none"

    def _device(self, tensor: Any) -> Any:
        """The virtual device, where a virtual machine is in effect."""
        marks: Any = sys.modules.get("runtime_guard.virtual.devices.marks")
        return tensor.device if marks is None else marks.device_of(tensor)

    def _name(self, device: Any) -> str:
        name = self._names.get(device)
        if name is None:
            name = self._names[device] = str(device)
        return name


def tensors_of(module: Any) -> list[Any]:
    """The parameters and buffers of a module and its parts, by no method of theirs."""
    found: list[Any] = []
    waiting = [module]
    seen: set[int] = set()
    while waiting and len(found) < MOST_TENSORS:
        held = waiting.pop().__dict__
        if id(held) in seen:
            continue
        seen.add(id(held))
        for kind in ("_parameters", "_buffers"):
            found.extend(one for one in (held.get(kind) or {}).values() if one is not None)
        waiting.extend(one for one in (held.get("_modules") or {}).values() if one is not None)
    return found

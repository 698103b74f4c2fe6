"""Where torch creates tensors for which nobody says where: it may differ by the path taken."""

from __future__ import annotations

from functools import reduce

from devicelint.domain.devices import CPU, Device
from devicelint.domain.join import join
from devicelint.domain.state import State
from devicelint.domain.values import DeviceHandle, OneOf

_TORCH = "torch's defaults"
_DEVICE, _TYPE = "device", "type"


class Defaults:
    """What `torch.set_default_device` and `torch.set_default_tensor_type` have set."""

    state: State

    @property
    def default_device(self) -> Device:
        """Where torch creates a tensor for which no device is given."""
        return self._default(_DEVICE)

    @default_device.setter
    def default_device(self, device: Device) -> None:
        self.state.write(_TORCH, _DEVICE, DeviceHandle(device, None))

    @property
    def device_of_type(self) -> Device:
        """Where `torch.Tensor(…)` creates its tensors: no default device, but the type says so."""
        return self._default(_TYPE)

    @device_of_type.setter
    def device_of_type(self, device: Device) -> None:
        self.state.write(_TORCH, _TYPE, DeviceHandle(device, None))

    def begin_with_defaults(self) -> None:
        """Nothing is set yet, on any path."""
        self.default_device = self.device_of_type = CPU

    def _default(self, which: str) -> Device:
        held = self.state.read(_TORCH, which)
        joined = reduce(join, held.options if isinstance(held, OneOf) else (held,))
        return joined.device if isinstance(joined, DeviceHandle) else CPU

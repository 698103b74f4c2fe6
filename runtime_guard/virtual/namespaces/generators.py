"""Generators of virtual devices, which a program makes, and what a generator is checked for."""

from __future__ import annotations

from typing import Any, Final

import torch
from torch import Tensor

from runtime_guard.virtual.devices.machine import CPU, is_active, machine
from runtime_guard.virtual.devices.marks import device_of
from runtime_guard.virtual.devices.names import resolved

WRONG_KIND: Final = "Expected a '{0}' device type for generator but found '{1}'"
"""What an operation says of another device's generator (ATen/core/Generator.h)."""

NO_STATE: Final = "RNG state must be a torch.ByteTensor"
"""What a generator says of a state that is none, or lies on a device (ATen/core/Generator.h)."""


class VirtualGenerator(torch._C.Generator):
    """A generator of a virtual device: one of the CPU, under another name."""

    def __new__(cls, device: torch.device) -> VirtualGenerator:
        """Make one with a stream of its own."""
        made: VirtualGenerator = super().__new__(cls)
        made._device = device
        return made

    def __init__(self, device: torch.device) -> None:
        """Nothing is left to do."""

    @property
    def device(self) -> torch.device:
        """The device that it is for."""
        return self._device

    @property
    def stream(self) -> torch._C.Generator:
        """What torch's own code draws from for it."""
        return self

    def set_state(self, new_state: Any) -> VirtualGenerator:
        """Go on from a state.

        Raises:
            TypeError: the state is none, or does not lie on the CPU.
        """
        super().set_state(host_state(new_state))
        return self

    def clone_state(self) -> VirtualGenerator:
        """Another generator that goes on from this one's state."""
        return VirtualGenerator(self._device).set_state(self.get_state())

    def __reduce__(self) -> Any:
        return _rebuilt, (str(self._device), self.initial_seed(), self.get_state())

    def __repr__(self) -> str:
        return f"<torch.Generator device={self._device}>"


class _Kind(type):
    """Lets every generator be an instance of what `torch.Generator` is inside the block."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, torch._C.Generator)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, torch._C.Generator)


class Generator(metaclass=_Kind):
    """Makes a generator of the device that it is given; `torch.Generator` inside the block."""

    def __new__(cls, device: Any = "cpu") -> Any:
        """Make one."""
        with torch._C.DisableTorchFunction():
            if not is_active():
                return torch._C.Generator(device)
            found = resolved(device)
            virtual = found.type == machine().name
            return VirtualGenerator(found) if virtual else torch._C.Generator(found)


def checked(generator: Any, device: torch.device) -> Any:
    """What an operation on a device is to draw from: a generator that torch's own code takes.

    Args:
        generator: what the program gave; None stands for the default.
        device: where the operation runs.

    Raises:
        RuntimeError: the generator is for another type of device; the text is CUDA's.
    """
    if not isinstance(generator, torch._C.Generator):
        return generator
    if device.type in ("cpu", machine().name) and generator.device.type != device.type:
        raise RuntimeError(WRONG_KIND.format(device.type, generator.device.type))
    return generator.stream if isinstance(generator, VirtualGenerator) else generator


def host_state(state: Any) -> Tensor:
    """A state that a generator can be given.

    Raises:
        TypeError: it is none, or lies on a device; the texts are torch's.
    """
    if not isinstance(state, Tensor):
        raise TypeError(f"expected a torch.ByteTensor, but got {type(state).__name__}")
    with torch._C.DisableTorchFunction():
        if state.dtype is not torch.uint8 or device_of(state) != CPU:
            raise TypeError(NO_STATE)
    return state


def _rebuilt(device: str, seed: int, state: Tensor) -> Any:
    made = Generator(device)
    made.manual_seed(seed)
    return made.set_state(state)

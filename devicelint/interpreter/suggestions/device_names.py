"""The names that hold a device, and how they are chosen from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from devicelint.domain.devices import Device, Known, Opaque, Unsure
from devicelint.domain.values import Const, DeviceHandle, Symbolic, Value
from devicelint.interpreter.facts.device_words import USUAL_NAMES, holds_device


def usual_name(fields: Iterable[tuple[str, Value]], device: Device) -> str | None:
    """A variable that holds the device and is called as most people call it."""
    names = [name for name, value in fields if name in USUAL_NAMES and gives(value, device)]
    return min(names, key=USUAL_NAMES.index, default=None)


def named_device(fields: Iterable[tuple[str, Value]], device: Device) -> str | None:
    """A variable that holds the device, the usual name before others."""
    held = list(fields)
    names = (name for name, value in held if gives(value, device) or _counts(name, value, device))
    return usual_name(held, device) or min(names, default=None)


def kept_setting(fields: Mapping[str, Value], device: Device) -> str | None:
    """`args.gpu` of a function that kept its `args`, which has a device nobody can read."""
    if not isinstance(device, Opaque):
        return None
    first, dot, rest = device.origin.partition(".")
    kept = (n for n, v in fields.items() if isinstance(v, Symbolic) and v.origin == first)
    return next((f"{name}.{rest}" for name in kept if dot), None)


def gives(value: Value, device: Device) -> bool:
    """Whether `device=` may be given a value for a device."""
    if isinstance(value, Const):
        return isinstance(device, Known) and value.value == str(device)
    if isinstance(value, Symbolic):
        return isinstance(device, Opaque) and value.origin == device.origin
    if not isinstance(value, DeviceHandle) or isinstance(value.device, Unsure):
        return False
    return device == value.device


def _counts(name: str, value: Value, device: Device) -> bool:
    """Whether a name that is for devices holds the number of one: `gpu_id = 0`."""
    number = value.value if isinstance(value, Const) else None
    if type(number) is not int or not holds_device(name):
        return False
    return device == Known("cuda", number)

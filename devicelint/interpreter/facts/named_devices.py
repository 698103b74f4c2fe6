"""Which names at a place of the program hold a device, and whether that is written out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import libcst as cst

from devicelint.domain.devices import (
    CPU,
    DEVICE_TYPES,
    Device,
    InvalidDevice,
    Known,
    Opaque,
    Unsure,
    is_accelerator,
    may_be_accelerator,
    parse_device,
)
from devicelint.domain.history import Site
from devicelint.domain.values import (
    Const,
    DeviceHandle,
    ImportedName,
    Instance,
    Module,
    Symbolic,
    Value,
)
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.device_words import USUAL_NAMES, holds_device
from devicelint.interpreter.facts.mentions import mentions_in

_SETTINGS = ("args", "opt", "opts", "options", "cfg", "config", "hparams", "flags", "FLAGS")
"""What scripts call the settings that somebody gives them."""


def is_sent_to_accelerator(device: Device) -> bool:
    """Whether the code sends the value to an accelerator, or to a device of somebody's choice.

    Not every argument of `.to()` that cannot be read is a device: it has to be named like one.
    """
    if isinstance(device, Opaque):
        return holds_device(device.origin)
    return is_accelerator(device)


@dataclass(frozen=True)
class NamedDevice:
    """An expression that holds a device; `literal` is what hard-codes it, where something does."""

    code: str
    literal: Site = field(default=None, compare=False, repr=False)
    is_object: bool = field(default=False, compare=False)
    """Whether it is a `torch.device` for sure."""
    is_type: bool = field(default=False, compare=False)
    """Whether it is a string that names a type alone, such as "cuda"."""


def frame_of(run: Run, literal: Site, use: Site) -> Frame | None:
    """The frame in which a literal is an argument of a call; None where it is something else."""
    frame: Frame | None = run.frame
    call: Site = use
    while frame is not None:
        if call is literal or (
            isinstance(call, cst.Call) and any(one.value is literal for one in call.args)
        ):
            return frame
        call, frame = frame.site, frame.caller
    return None


def devices_at_hand(run: Run, frame: Frame, wanted: Known) -> Iterator[NamedDevice]:
    """What is bound here and holds the wanted device, or the device that stands for it.

    A parameter and the function's own variables come first, then the attributes of `self`, then
    the variables around.
    """
    for ref in dict.fromkeys((frame.ref, *frame.scopes, frame.home)):
        yield from _held(run, run.state.fields(ref).items(), "", wanted)
        if ref == frame.ref and isinstance(frame.receiver, (Module, Instance)):
            yield from _held(run, run.state.fields(frame.receiver.ref).items(), "self.", wanted)
    members = mentions_in(run.module).members
    for name in _SETTINGS:
        if "device" in members.get(name, ()) and isinstance(run.lookup(name), Symbolic):
            yield NamedDevice(f"{name}.device")


def _held(
    run: Run, fields: Iterable[tuple[str, Value]], prefix: str, wanted: Known
) -> Iterator[NamedDevice]:
    found = [
        (name, value)
        for name, value in fields
        if name.isidentifier() and _stands_for(run, name, value, wanted)
    ]
    for name, value in sorted(found, key=lambda one: (_rank(one[0]), one[0])):
        is_object = isinstance(value, DeviceHandle) and value.is_object
        yield NamedDevice(prefix + name, _hard_literal(value), is_object, _is_type(value))


def _hard_literal(value: Value) -> Site:
    """What to change where the variable itself is hard-coded; None where it is not."""
    if not isinstance(value, (Const, DeviceHandle)) or _device_of(value) == CPU:
        return None
    return value.site if is_hard(value) else None


def _is_type(value: Value) -> bool:
    """A variable is a type on one machine and no string of another kind on the other."""
    return isinstance(value, Const) and value.value in DEVICE_TYPES


def _rank(name: str) -> int:
    return USUAL_NAMES.index(name) if name in USUAL_NAMES else len(USUAL_NAMES)


def _stands_for(run: Run, name: str, value: Value, wanted: Known) -> bool:
    if isinstance(value, Symbolic):
        return name in USUAL_NAMES and value.origin.rpartition(".")[2] in USUAL_NAMES
    if isinstance(value, ImportedName):
        return name in USUAL_NAMES and value.name.partition(".")[0] != "torch"
    device = _device_of(value)
    if device is None or isinstance(device, Unsure):
        return False
    if not isinstance(device, Known):
        return name in USUAL_NAMES
    if device == CPU:
        return run.world.accelerators == 0
    return device.type == wanted.type and (device.index or 0) == (wanted.index or 0)


def _device_of(value: Value) -> Device | None:
    if isinstance(value, DeviceHandle):
        return value.device
    if isinstance(value, Const) and isinstance(value.value, str):
        try:
            return parse_device(value.value)
        except InvalidDevice:
            return None
    return None


def is_hard(value: Const | DeviceHandle) -> bool:
    """Whether a device is written out in the code, and nobody's choice."""
    return value.literal if isinstance(value, DeviceHandle) else not value.chosen


def names_accelerator(value: Value) -> bool:
    """Whether a value is an accelerator, may be one, or is the name of one."""
    if isinstance(value, DeviceHandle):
        return may_be_accelerator(value.device)
    if not (isinstance(value, Const) and isinstance(value.value, str)):
        return False
    try:
        return is_accelerator(parse_device(value.value))
    except InvalidDevice:
        return False

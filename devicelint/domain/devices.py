"""Where a value lives, as far as the code says.

`Known` was read from the code; `Opaque` is an expression that cannot be read but stays the same
wherever it is written (`args.device`); `DeviceOf` is the device of something that the caller
chose, or that code gives which is not seen; `Unsure` agrees with everything and carries the reason.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from enum import Enum


@dataclass(frozen=True, slots=True)
class Known:
    """A device with a name, such as `cpu` or `cuda:0`; `index` is None for the current one."""

    type: str
    index: int | None = None
    implied: bool = field(default=False, compare=False, repr=False)
    """Whether the index is that of the current device, and nobody has written it."""
    computed: bool = field(default=False, compare=False, repr=False)
    """Whether it has an index that the code does not show: it is any of its type."""

    def __str__(self) -> str:
        return self.type if self.index is None or self.implied else f"{self.type}:{self.index}"


def as_written(device: Device) -> Device:
    """A device as the code names it: without the index of a current one."""
    if isinstance(device, Known) and device.implied:
        return Known(device.type)
    return device


@dataclass(frozen=True, slots=True)
class Opaque:
    """A device that the code takes from outside: the same origin is the same device."""

    origin: str
    apart: bool = False
    """Whether it is chosen apart from where callers have their tensors, and is the CPU first."""

    def __str__(self) -> str:
        return self.origin


@dataclass(frozen=True, slots=True)
class DeviceOf:
    """The device of something that the code does not show: a parameter, `self`, or a result.

    `place` is how the code writes it, and one place has one device: `x`, `f(x)`, `f(x)[0]`.
    """

    place: str
    lineage: frozenset[str] | None = field(default=None, compare=False)
    """Of what code gives that nobody sees: the places of the tensors that it was given."""

    @property
    def is_unseen(self) -> bool:
        """Whether this is the device of a result, or of a part of something."""
        return self.lineage is not None

    @property
    def is_of_host(self) -> bool:
        """Whether the code that gives it was given tensors, and all of them on the CPU."""
        return self.lineage == ON_HOST

    def __str__(self) -> str:
        return f"the device of {self.place}"


@dataclass(frozen=True, slots=True)
class Unsure:
    """No statement about the device, and why."""

    reason: str = field(compare=False)

    def __str__(self) -> str:
        return f"unknown ({self.reason})"


NOWHERE = Unsure("this machine has no accelerator")
"""Of a value that is sent to an accelerator that is not there: distinguished by identity."""
NOT_UNDERSTOOD = Unsure("one of the operands is not understood")
"""Of a tensor computed from something that nobody follows: distinguished by identity."""
MAYBE_OF_NUMBERS = Unsure("it is made of what may be a tensor or a number")
"""Of a tensor that is the CPU's, unless it was made of another one: distinguished by identity."""

Device = Known | Opaque | DeviceOf | Unsure

CPU = Known("cpu")
ON_HOST = frozenset({"cpu"})
"""The lineage of what is made of tensors on the CPU alone, most likely there, too."""
META = Known("meta")

CUDA_SOURCES = (".cu", ".cuh")
"""How the files end that CUDA's compiler takes."""
DEVICE_TYPES = frozenset(
    "cpu cuda mps xpu xla hpu mtia meta privateuseone ipu lazy vulkan hip ve fpga maia mkldnn "
    "opengl opencl ideep".split()
)
"""What `torch.device` accepts before the colon, as its own error message lists it."""

_SPELLING = re.compile(r"([a-z_]+)(?::(0|[1-9]\d*))?")


OTHER_BACKENDS = frozenset("npu mlu musa gcu dml tpu neuron openreg sdaa supa txda".split())
"""Types that packages beside torch register under a name of their own."""


class InvalidDevice(ValueError):
    """A string that `torch.device` refuses."""


def parse_device(text: str, backends: Collection[str] = ()) -> Known:
    """The device that a string names; raises `InvalidDevice` where torch would raise.

    `backends` are the names that the program itself gives to backends.

    >>> parse_device("cuda:1")
    Known(type='cuda', index=1)
    """
    match = _SPELLING.fullmatch(text)
    if match is None or not any(match[1] in t for t in (DEVICE_TYPES, OTHER_BACKENDS, backends)):
        raise InvalidDevice(text)
    return Known(match[1], None if match[2] is None else int(match[2]))


class Agreement(Enum):
    """What can be said of two devices."""

    SAME = "same"
    DIFFERENT = "different"
    """Certainly two devices."""
    DIFFERENT_UNLESS_CHOSEN = "different unless just that is chosen"
    """One is somebody's choice, the other the CPU, or another accelerator than the first."""
    UNKNOWN = "unknown"


def agreement(one: Device, other: Device) -> Agreement:
    """Compare two devices; an index that is not written down agrees with every index."""
    if one is other:
        return Agreement.UNKNOWN if isinstance(one, Unsure) else Agreement.SAME
    if isinstance(one, Known) and isinstance(other, Known):
        return _agreement_of_known(one, other)
    if one == other:
        return Agreement.UNKNOWN if isinstance(one, Unsure) else Agreement.SAME
    if isinstance(one, Unsure) or isinstance(other, Unsure):
        return Agreement.UNKNOWN
    if _is_device_of(one, other) or _is_device_of(other, one):
        return Agreement.SAME
    if _is_likely_on_host(one, other) or _is_likely_on_host(other, one):
        return Agreement.UNKNOWN
    if _is_unlikely_choice(one, other) or _is_unlikely_choice(other, one):
        return Agreement.DIFFERENT_UNLESS_CHOSEN
    if CPU in (one, other) or _are_apart(one, other) or _are_apart(other, one):
        return Agreement.DIFFERENT_UNLESS_CHOSEN
    return Agreement.UNKNOWN


def _is_device_of(one: Device, other: Device) -> bool:
    """Whether one is written as `x.device`, and the other is where `x` is."""
    if not (isinstance(one, Opaque) and isinstance(other, DeviceOf)):
        return False
    return not one.apart and one.origin == f"{other.place}.device"


def _is_unlikely_choice(one: Device, other: Device) -> bool:
    """Whether one is an accelerator by its number, and no choice falls on that by itself."""
    return isinstance(one, Known) and bool(one.index) and isinstance(other, Opaque)


def _is_likely_on_host(one: Device, other: Device) -> bool:
    return other == CPU and isinstance(one, DeviceOf) and one.is_of_host


def _are_apart(own: Device, given: Device) -> bool:
    """Whether an object keeps to its own device, and its caller gives a tensor from elsewhere."""
    if not (isinstance(own, Opaque) and own.apart and isinstance(given, DeviceOf)):
        return False
    return given.place.partition(".")[0] != own.origin.partition(".")[0]


def _agreement_of_known(one: Known, other: Known) -> Agreement:
    if META in (one, other):
        return Agreement.UNKNOWN
    if one.type != other.type:
        return Agreement.DIFFERENT
    if one.index == other.index or one.type == "cpu":
        return Agreement.SAME
    if one.index is None or other.index is None:
        return Agreement.UNKNOWN
    return Agreement.DIFFERENT


def join_devices(one: Device, other: Device) -> Device:
    """The device of a value that came on either of two paths."""
    if one == other:
        return one
    for own, given in ((one, other), (other, one)):
        if _is_device_of(own, given):
            return given
        if _are_apart(own, given):
            return own
    if isinstance(one, Unsure):
        return one
    if isinstance(other, Unsure):
        return other
    if isinstance(one, Known) and isinstance(other, Known) and one.type == other.type:
        return Known(one.type, computed=True)
    return Unsure(f"{one} or {other}")


def is_accelerator(device: Device) -> bool:
    """Whether the code itself says that the device is not the host's memory."""
    return isinstance(device, Known) and device.type not in ("cpu", "meta")


def may_be_accelerator(device: Device) -> bool:
    """Whether a device is an accelerator, or somebody's choice that may be one."""
    return is_accelerator(device) or isinstance(device, Opaque)

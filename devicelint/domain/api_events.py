"""Events about torch's own entry points to an accelerator, and devices not passed on."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from devicelint.domain.devices import Device, Known
from devicelint.domain.events import Event, Operand
from devicelint.domain.history import Site, Step
from devicelint.domain.standing import CERTAIN, Standing


@dataclass(frozen=True, slots=True)
class AcceleratorApiCalled(Event):
    """A call such as `torch.cuda.synchronize()`, which raises if there is no accelerator."""

    site: Site = field(repr=False)
    name: str
    """By its full name."""
    at_times: bool = False
    """Whether a condition that says nothing of devices leads there."""


@dataclass(frozen=True, slots=True)
class AcceleratorMet(Event):
    """What the code sends to an accelerator, whatever the machine has, meets its caller's."""

    site: Site = field(repr=False)
    """What names the accelerator: a method's call, or a literal."""
    use: Site = field(repr=False)
    """The call that goes there; the literal may stand far away from it."""
    sent: Operand
    met: Operand
    failing: Site = field(repr=False)
    standing: Standing
    is_guarded: bool = False
    """Whether it goes there only where the machine has one."""


@dataclass(frozen=True, slots=True)
class DemandedElsewhere(Event):
    """A function of another file goes to an accelerator on each of its paths, and fails without."""

    site: Site = field(repr=False)
    """The call in the checked file."""
    device: Known
    failing: Site = field(repr=False)
    """What fails, in the other file."""


class LegacyUse(Enum):
    """What a legacy tensor type, such as `torch.cuda.FloatTensor`, is used for."""

    CONSTRUCTED = "called, to make a tensor"
    CONVERTED = "given to .type()"
    DEFAULT = "made the type of new tensors"
    KEYWORD = "a CPU type, called with the device of an accelerator"


@dataclass(frozen=True, slots=True)
class LegacyTypeUsed(Event):
    """A legacy tensor type stands for an accelerator."""

    site: Site = field(repr=False)
    """The call."""
    use: LegacyUse
    name: str
    """The type, by its full name."""
    device: Device
    argument: Site = field(default=None, repr=False)
    """The type or device where it is an argument."""


@dataclass(frozen=True, slots=True)
class AmpForOneDevice(Event):
    """Automatic mixed precision that is written for one type of device."""

    site: Site = field(repr=False)
    """The call."""
    name: str
    """By its full name."""
    device: Known
    argument: Site = field(default=None, repr=False)
    """The literal that names the device; None where the function's own name does."""


@dataclass(frozen=True, slots=True)
class DeviceContextDiscarded(Event):
    """Something that sets a device for a `with` block stands alone and does nothing."""

    site: Site = field(repr=False)
    name: str
    """By its full name."""


@dataclass(frozen=True, slots=True)
class DeviceNotForwarded(Event):
    """A function with a device parameter is called without it, where a device is at hand."""

    site: Site = field(repr=False)
    """The call."""
    function: str
    parameter: str
    default: Site = field(repr=False)
    """What the parameter is by default."""
    at_hand: str
    """The device that the caller has."""
    fixed: Known | None
    """The device that the default writes out; None where that is None."""
    standing: Standing = CERTAIN


@dataclass(frozen=True, slots=True)
class PartMadeElsewhere(Event):
    """A Module makes one part on the CPU, and another on a device that it is given."""

    step: Step = field(repr=False)
    """How the part on the CPU was made."""
    is_module: bool
    module: Site = field(repr=False)
    """The definition of the class around both."""
    beside: Operand
    """The other part, where it is made."""
    takes_same: bool
    """Whether the call may take the device of the other part, by the same name."""
    standing: Standing = CERTAIN
    """How sure it is, and whose choice the device is: a parameter of the constructor."""


@dataclass(frozen=True, slots=True)
class DeviceIgnored(Event):
    """A function gets a device that it never reads, and gives what it made on the CPU."""

    site: Site = field(repr=False)
    """The device, where it is passed."""
    function: Site = field(repr=False)
    parameter: str
    made: Site = field(repr=False)
    """The call that makes what the function gives."""
    is_module: bool


@dataclass(frozen=True, slots=True)
class QuestionNotAsked(Event):
    """`if torch.cuda.is_available:` takes the function itself for its answer."""

    site: Site = field(repr=False)
    name: str
    """The function, by its full name."""

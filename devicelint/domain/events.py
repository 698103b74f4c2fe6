"""What the interpreter announces while it walks through a program.

Rules listen to these.  A `site` is the place in the code; an `Operand` is a value at a place.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from devicelint.domain.checkpoints import ReadFile, WrittenFile
from devicelint.domain.devices import Agreement, Device
from devicelint.domain.history import Site, Step
from devicelint.domain.standing import CERTAIN, Standing
from devicelint.domain.values import (
    Module,
    NotMovable,
    Parameters,
    Tensor,
    Value,
)


class Event:
    """Something that the walk announces.

    A rule listens to it in a method of that name: `MixedOperation` in `on_mixed_operation`.
    """

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Operand:
    """One value that takes part in something, and the expression that gave it."""

    site: Site = field(repr=False)
    value: Value
    device: Device
    since: Step | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Clash:
    """Two operands that should share a device and do not.

    `culprit` is the one to move.  `failing` is the place where torch would raise; it is
    another place than the culprit's where the culprit was passed through calls.
    """

    culprit: Operand
    reference: Operand
    agreement: Agreement
    failing: Site = field(repr=False)
    frame: object = field(repr=False)
    """The frame in which the culprit stands: where a fix goes, names mean what they do there."""
    is_reference_here: bool = True
    """Whether the reference's expression stands in that frame too."""
    standing: Standing = CERTAIN
    """How sure it is that they differ."""
    follows: bool = False
    """Whether the same value has met the same device before, on this path."""


@dataclass(frozen=True, slots=True)
class MixedOperation(Event):
    """An operation whose operands are on different devices."""

    site: Site = field(repr=False)
    operation: str
    clash: Clash
    in_place: bool = False
    index: bool = False


@dataclass(frozen=True, slots=True)
class MixedElsewhere(Event):
    """A function of another file combines what it is given with what lies on another device."""

    site: Site = field(repr=False)
    """The call in the checked file."""
    function: str
    operation: str
    given: Operand
    """What the checked file gave, as it stands there."""
    met: Operand
    failing: Site = field(repr=False)
    agreement: Agreement
    frame: object = field(repr=False)
    standing: Standing = CERTAIN


@dataclass(frozen=True, slots=True)
class MisplacedInput(Event):
    """A module that is called with an input that is not on the module's device."""

    site: Site = field(repr=False)
    module: str
    clash: Clash


@dataclass(frozen=True, slots=True)
class Transfer(Event):
    """`.to()`, `.cuda()`, `.cpu()`: `target` is None where only a dtype was given."""

    site: Site = field(repr=False)
    receiver_site: Site = field(repr=False)
    receiver: Value
    method: str
    target: Device | None
    result: Value
    origin: Device | None = None
    """Where the receiver was."""


@dataclass(frozen=True, slots=True)
class DiscardedTransfer(Event):
    """A transfer whose result nobody takes."""

    transfer: Transfer
    statement: Site = field(repr=False)


@dataclass(frozen=True, slots=True)
class DevicelessMoved(Event):
    """`.to()` or a similar call on an object that does not have it."""

    site: Site = field(repr=False)
    receiver_site: Site = field(repr=False)
    receiver: NotMovable | Parameters | Value
    kind: str
    method: str
    target: Device | None
    model: Operand | None = None
    """The model whose parameters it holds, where that has a name here."""


@dataclass(frozen=True, slots=True)
class HostRead(Event):
    """A tensor is read as a numpy array, by `.numpy()` or by a library that converts it."""

    site: Site = field(repr=False)
    operand: Operand
    reader: str
    requires_grad: bool | None
    elements: bool = False
    """Whether the operand's site is a list of such tensors."""
    is_sent: bool = False
    """Whether it is not read, but sent to another process by RPC, which takes the CPU's as well."""
    frame: object = field(default=None, repr=False, compare=False)
    """The call of the checked file in which the operand stands, where another file's code reads."""
    standing: Standing = CERTAIN
    """How sure it is that the tensor is not on the CPU."""


class LoadUse(Enum):
    """What shows that a loaded value is a checkpoint."""

    WEIGHTS = "given to load_state_dict, which copies it to wherever the model is"
    MODEL = "used as a model, which stays where it was loaded to"
    CHECKPOINT = "handled as a checkpoint: saved again, or a path to others"
    RANDOM_STATE = "given to set_rng_state, which wants it on the CPU"
    RETURNED = "returned by a function that nothing in the file calls"


@dataclass(frozen=True, slots=True)
class Load(Event):
    """A checkpoint is read without map_location."""

    site: Site = field(repr=False)
    position: int
    """Which of the arguments is map_location, where it is given without its name."""
    device: str | None
    """What holds a device where the load stands."""
    file: ReadFile
    beside: frozenset[WrittenFile] = frozenset()
    """What the same file saves."""
    uses: frozenset[LoadUse] = frozenset()
    entries: frozenset[Site] = field(default=frozenset(), repr=False)
    """Functions that nothing in the file calls from which walks came; None: its program."""
    reader: Site = field(default=None, repr=False)
    after: frozenset[Site] = field(default=frozenset(), repr=False)
    """The lines before that raise on the machine where this fails, if they are reported."""


@dataclass(frozen=True, slots=True)
class AcceleratorDemanded(Event):
    """The code goes to an accelerator, whatever the machine has."""

    site: Site = field(repr=False)
    device: Device
    how: str
    """The method, keyword or function that demands it."""
    literal: bool
    """Whether `site` is the literal that names the device, rather than a method's call."""
    use: Site = field(default=None, repr=False)
    """The call that goes there; the literal may stand far away from it."""
    at_times: bool = False
    """Whether a condition that says nothing of devices guards it."""
    is_idle: bool = False
    """Whether there is nothing to move, so that it does not fail anywhere."""
    standing: Standing = CERTAIN
    """Who would have to call it, where it is a method of a Module that others move."""


@dataclass(frozen=True, slots=True)
class InvalidDeviceNamed(Event):
    """A string is used as a device that torch does not accept."""

    site: Site = field(repr=False)
    text: str
    use: Site = field(default=None, repr=False)
    """The call that it is given to."""
    chosen: bool = False
    """Whether it stands under a condition."""


@dataclass(frozen=True, slots=True)
class DeviceCompared(Event):
    """A `torch.device` is compared with a string."""

    site: Site = field(repr=False)
    device_site: Site = field(repr=False)
    other_site: Site = field(repr=False)
    text: str
    """The string, or the strings of a container, with blanks between."""
    operator: str
    searched: bool = False
    """Whether a string is looked for in the device, as though that were one."""


@dataclass(frozen=True, slots=True)
class IndexTested(Event):
    """A device index is used as a condition, although GPU 0 is false."""

    site: Site = field(repr=False)
    given: str
    """How to ask whether there is an index, after its name."""


@dataclass(frozen=True, slots=True)
class ModuleDefined(Event):
    """A Module's `__init__` has run.

    `hidden` are the plain containers with modules that own parameters which nothing registered.
    """

    site: Site = field(repr=False)
    module: Module
    hidden: tuple[HiddenModules, ...]


@dataclass(frozen=True, slots=True)
class HiddenModules:
    """Modules in a plain list, tuple or dict of a Module."""

    attribute: str
    kind: str
    site: Site = field(repr=False)
    value_site: Site = field(repr=False)
    built: tuple[Site, ...] = field(default=(), repr=False)
    """Where they are built, if not there."""


@dataclass(frozen=True, slots=True)
class ParameterLost(Event):
    """A Parameter or leaf tensor was moved before it is registered or optimized."""

    site: Site = field(repr=False)
    move: Site = field(repr=False)
    tensor: Tensor
    registered: bool
    """Whether it was assigned to a Module, rather than given to an optimizer."""
    standing: Standing = CERTAIN


@dataclass(frozen=True, slots=True)
class Assigned(Event):
    """A name was given a value."""

    site: Site = field(repr=False)
    name: str
    value: Value


@dataclass(frozen=True, slots=True)
class Evaluated(Event):
    """An expression that somebody watches was evaluated."""

    site: Site = field(repr=False)
    value: Value


@dataclass(frozen=True, slots=True)
class Revealed(Event):
    """`reveal_device(x)` was reached."""

    site: Site = field(repr=False)
    value: Value
    device: Device

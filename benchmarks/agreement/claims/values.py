"""From a value of the interpreter to what it claims of an expression."""

from __future__ import annotations

from dataclasses import dataclass, field

from devicelint.domain.devices import Device, DeviceOf, Known, Unsure
from devicelint.domain.history import Step
from devicelint.domain.values import (
    Array,
    Batch,
    Checkpoint,
    Class,
    Const,
    Distribution,
    Flag,
    HostObject,
    HostValue,
    Imported,
    ImportedName,
    Instance,
    LibraryObject,
    Module,
    OneOf,
    Placed,
    Symbolic,
    Tensor,
    TensorDict,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.objects import CLASS_FIELD, OPEN_FIELD, module_device
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.python.classes import has_unseen_base
from devicelint.interpreter.torch.bundles import place_of

TENSOR = "tensor"
MODULE = "module"
EITHER = "tensor or module"
NEITHER = "neither"
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Claim:
    """What one walk says of an expression at one time.

    Attributes:
        what: whether it is a tensor, a module, either, neither, or not understood.
        device: where it is: known, a symbol, or None where nothing is said.
        told: of what is neither, what it is; of what is not understood, why.
        scalar: whether it is 0-dim, where that is said.
        since: what put it there.
    """

    what: str
    device: Device | None = None
    told: str = ""
    scalar: bool | None = None
    since: Step | None = field(default=None, compare=False, repr=False)

    @property
    def is_known(self) -> bool:
        """Whether it names a device."""
        return isinstance(self.device, Known)

    @property
    def is_symbol(self) -> bool:
        """Whether it names a symbol: a device that the code takes from outside."""
        return self.device is not None and not self.is_known

    def __str__(self) -> str:
        place = f" on {self.device}" if self.device is not None else ""
        dimensions = {None: "", True: " (0-dim)", False: " (not 0-dim)"}[self.scalar]
        return f"{self.what}{place}{dimensions}{f': {self.told}' if self.told else ''}"


def claims_of(run: Run, value: Value) -> tuple[Claim, ...]:
    """What a value claims: one alternative for each object that it may be."""
    if isinstance(value, OneOf):
        return tuple(claim for option in value.options for claim in claims_of(run, option))
    return (_claim_of(run, value),)


def _claim_of(run: Run, value: Value) -> Claim:
    match value:
        case Unknown(reason, Step(device=DeviceOf() as device) as since):
            return Claim(EITHER, device, reason, since=since)
        case Unknown(reason):
            return Claim(UNKNOWN, told=reason)
        case Tensor():
            return _placed(TENSOR, value.device, value.since, value.scalar)
        case Batch() | Distribution() | Placed():
            return _placed(EITHER, value.device, value.since)
        case Module():
            place = module_device(run, value)
            return _placed(MODULE, place.device, place.since)
        case TensorDict():
            place = place_of(run, value)
            return _placed(EITHER, place.device, place.since)
        case Symbolic(origin):
            return Claim(EITHER, DeviceOf(origin), since=value.since)
        case _:
            return _not_placed(run, value)


def _placed(what: str, device: Device, since: Step, scalar: bool | None = None) -> Claim:
    if isinstance(device, Unsure):
        return Claim(what, None, device.reason, scalar, since)
    return Claim(what, device, "", scalar, since)


def _not_placed(run: Run, value: Value) -> Claim:
    """What is neither a tensor nor a module, so far as the interpreter looks at it."""
    match value:
        case Const(None):
            return Claim(NEITHER, told="None")
        case Const() | HostValue():
            return Claim(NEITHER, told="a value of the host")
        case Flag():
            return Claim(UNKNOWN, told="a condition that the code does not decide")
        case Array() | HostObject():
            return Claim(NEITHER, told="an array, or an object of the host")
        case ImportedName() | Imported():
            return Claim(UNKNOWN, told="a name that was imported")
        case Checkpoint():
            return Claim(UNKNOWN, told="a part of a checkpoint")
        case LibraryObject(device=None):
            return Claim(UNKNOWN, told="an object of a library")
        case LibraryObject(device=Known() as device):
            return Claim(EITHER, device)
        case Instance() if _may_be_anything(run, value):
            return Claim(UNKNOWN, told="an object of a class with a base that is not seen")
        case Instance() if run.state.read(value.ref, OPEN_FIELD) is not None:
            return Claim(UNKNOWN, told="an object of a class that derives from one that is seen")
        case _:
            return Claim(NEITHER, told=_PLAIN.get(type(value).__name__, type(value).__name__))


def _may_be_anything(run: Run, value: Instance) -> bool:
    kind = run.state.read(value.ref, CLASS_FIELD)
    return not isinstance(kind, Class) or has_unseen_base(kind)


_PLAIN = {
    "ListOf": "a list",
    "DictOf": "a dict",
    "Tuple": "a tuple",
    "Stream": "an iterator",
    "Instance": "an object that is no module",
    "Function": "a function",
    "Bound": "a method",
    "Partial": "a function",
    "Class": "a class",
    "DeviceHandle": "a device",
    "DeviceIndex": "the index of a device",
    "Loader": "a loader",
    "Dataset": "a dataset",
    "NotMovable": "an optimizer or a scheduler",
    "Generator": "a generator of random numbers",
}

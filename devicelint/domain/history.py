"""Why a value is where it is: the step that put it there."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from devicelint.domain.devices import Device

Site = object
"""A place in the code, compared by identity.  The domain never looks inside."""


class Verb(Enum):
    """What put a value on its device, as the message says it."""

    CREATED = "created on {device} here"
    CREATED_ON = "created on {device} here by its device argument"
    CONVERTED = "created on {device} from host data here"
    TYPED = "converted to a tensor type on {device} here"
    LOADED = "yielded on {device} by a DataLoader here"
    SENT = "received on {device} from another process here"
    MOVED = "moved to {device} here"
    BESIDE = "yielded on {device} here, like the value next to it, which is moved"
    AGAIN = "yielded on {device} here, as in the loop that moves it"
    ASSUMED = "assumed to be on {device} here"
    BUILT = "module built on {device} here"
    PLACED = "placed on {device} here"
    RECEIVED = "received here: the caller chooses its device"
    GIVEN = "returned here by code that devicelint does not see, on a device of its own"
    REGISTERED = "registered here: it follows the module"
    COMPUTED = "computed on {device} here"
    MET = "combined here with a value on {device}, so it is there too"
    STAYED = "stays on {device}: the copy made here is discarded"


@dataclass(frozen=True, slots=True)
class Keeper:
    """The plain attribute of a Module in which a tensor is kept."""

    owner: str
    attribute: str
    site: Site = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a value's history: what happened, and where."""

    verb: Verb
    site: Site
    device: Device
    intended: Device | None = field(default=None, compare=False)
    """Where a value was to go by a move whose result is thrown away."""
    pinned: bool = field(default=False, compare=False)
    """Whether the DataLoader pins what it yields, which moves nothing."""
    believed: bool = field(default=False, compare=False)
    """Whether the code takes the device for granted, and does not show it."""
    evidence: Site = field(default=None, compare=False, repr=False)
    """The move elsewhere that shows what is believed."""
    kept: Keeper | None = field(default=None, compare=False)
    """The attribute that kept the value there, and from which it was read since."""
    part: str = ""
    """Which part of a batch it is, where the parts have names."""
    of_module: bool = field(default=False, compare=False)
    """Whether it was a Module that moved: what the Module computes is there since then."""
    assumed: str = field(default="", compare=False)
    """Where the configuration says so, if it is that which does."""

    def __str__(self) -> str:
        verb = Verb.ASSUMED if self.assumed and self.verb is Verb.LOADED else self.verb
        text = verb.value.format(device=self.device)
        return f"{text}, as {self.assumed} says" if verb is Verb.ASSUMED else text

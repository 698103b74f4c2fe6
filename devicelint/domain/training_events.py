"""What is announced about training: optimizers, loops, and the copies between host and device."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from devicelint.domain.devices import Agreement, Device
from devicelint.domain.events import Event, Operand
from devicelint.domain.history import Site
from devicelint.domain.values import Module, Tensor


class StateOrigin(Enum):
    """What made the state that an optimizer keeps for each parameter."""

    BUILT = "made when it is built"
    LOADED = "loaded"
    STEPPED = "made by its first step"


@dataclass(frozen=True, slots=True)
class OptimizerStateElsewhere(Event):
    """An optimizer steps whose state is not where the parameters are."""

    site: Site = field(repr=False)
    made: Site = field(repr=False)
    """The call that made the state."""
    origin: StateOrigin
    state: Device
    model: Operand
    """The module as the optimizer was given it; `since` is the move that came after the state."""
    agreement: Agreement
    beside: bool = False
    """Whether the model has this name where the state is made, too."""


@dataclass(frozen=True, slots=True)
class HostWaits(Event):
    """Python asks, in a loop, for what a tensor of an accelerator holds."""

    site: Site = field(repr=False)
    """What asks for it: a call, a condition, a part of a string."""
    operand: Operand


@dataclass(frozen=True, slots=True)
class DeviceUnused(Event):
    """A device is chosen that nothing takes a model to, which is trained on the CPU."""

    site: Site = field(repr=False)
    """What chooses it: an assignment, or the declaration of an option."""
    name: str
    """What holds the choice."""
    device: Device | None
    """What is chosen; None for an option or a flag."""
    model: Module
    step: Site = field(repr=False)
    """The step of its optimizer."""
    is_option: bool = False


@dataclass(frozen=True, slots=True)
class MadeApart(Event):
    """A tensor is made on the CPU on one path, and lies on an accelerator on another."""

    site: Site = field(repr=False)
    """The call that makes it on the CPU."""
    other: Tensor
    """What it is on the other path."""


@dataclass(frozen=True, slots=True)
class CpuOnly(Event):
    """A program trains, and nothing in it says on which device: one part of what it trains."""

    site: Site = field(repr=False)
    """The call that makes the part: a module, or a tensor."""
    is_module: bool
    parts: tuple[tuple[Site, bool], ...] = field(repr=False)
    """All such parts, each with whether it is a module: they move together, or not at all."""
    name: str | None
    """What a new variable for the device can be called everywhere, if anything."""


@dataclass(frozen=True, slots=True)
class FixedToCpu(Event):
    """A program trains on the one device that it names, and that is the CPU."""

    site: Site = field(repr=False)
    """The literal that says so."""
    name: str
    """What holds the device."""

"""What is announced about data on its way: loaders, samplers, pinned memory, packed sequences."""

from __future__ import annotations

from dataclasses import dataclass, field

from devicelint.domain.devices import Agreement, Device
from devicelint.domain.events import Event, Operand
from devicelint.domain.history import Site, Step
from devicelint.domain.standing import CERTAIN, Standing


@dataclass(frozen=True, slots=True)
class GeneratorElsewhere(Event):
    """Numbers are drawn for one device with the generator of another one.

    `generator` is where it was made; None where torch takes its own, which is on the CPU.
    """

    site: Site = field(repr=False)
    operation: str
    given: Site = field(repr=False)
    generator: Step | None
    wanted: Device
    wanted_since: Step | None
    agreement: Agreement


@dataclass(frozen=True, slots=True)
class HostMemoryDemanded(Event):
    """A tensor is given to what takes tensors on the CPU alone, such as `.pin_memory()`."""

    site: Site = field(repr=False)
    operation: str
    operand: Operand
    standing: Standing = CERTAIN


@dataclass(frozen=True, slots=True)
class LoaderPins(Event):
    """A DataLoader pins what it yields, some of which is on an accelerator already."""

    site: Site = field(repr=False)
    given: Site = field(repr=False)
    """The argument that asks for it."""
    item: Operand


@dataclass(frozen=True, slots=True)
class AcceleratorInWorker(Event):
    """A function that runs in the worker processes of a DataLoader uses an accelerator."""

    site: Site = field(repr=False)
    function: str
    device: Device
    loader: Site = field(repr=False)
    """What makes the DataLoader that has workers."""


@dataclass(frozen=True, slots=True)
class UnknownInput(Event):
    """A module that was moved is given what comes out of something that nobody follows."""

    site: Site = field(repr=False)
    """The argument."""
    module: Operand
    source: Site = field(repr=False)
    """What it comes out of, in a loop or one by one."""

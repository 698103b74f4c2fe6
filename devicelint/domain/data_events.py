"""What is announced about data on its way: loaders, samplers, pinned memory, packed sequences."""

from __future__ import annotations

from dataclasses import dataclass, field

from devicelint.domain.devices import Agreement, Device
from devicelint.domain.events import Event, Operand
from devicelint.domain.history import Site, Step


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
class LengthsElsewhere(Event):
    """Lengths are given to pack_padded_sequence that may not be on the CPU."""

    site: Site = field(repr=False)
    lengths: Operand


@dataclass(frozen=True, slots=True)
class PinnedElsewhere(Event):
    """A tensor on an accelerator is pinned, which only the host's memory can be."""

    site: Site = field(repr=False)
    operand: Operand
    loader: bool = False
    """Whether a DataLoader does so, with what its dataset yields."""


@dataclass(frozen=True, slots=True)
class PinnedAlways(Event):
    """`.pin_memory()` is reached where the machine has no accelerator."""

    site: Site = field(repr=False)
    receiver: Site = field(repr=False)


@dataclass(frozen=True, slots=True)
class AcceleratorInWorker(Event):
    """A function that runs in the worker processes of a DataLoader uses an accelerator."""

    site: Site = field(repr=False)
    function: str
    device: Device
    loader: Site = field(repr=False)
    """What makes the DataLoader that has workers."""

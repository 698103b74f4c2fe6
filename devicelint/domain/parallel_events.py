"""What is announced about several processes and several accelerators."""

from __future__ import annotations

from dataclasses import dataclass, field

from devicelint.domain.devices import Device
from devicelint.domain.events import Event, Operand
from devicelint.domain.history import Site
from devicelint.domain.standing import CERTAIN, Standing


@dataclass(frozen=True, slots=True)
class GroupJoined(Event):
    """The process joins a group: `torch.distributed.init_process_group`."""

    site: Site = field(repr=False)
    backend: str
    """As it is written; empty where the code does not say."""
    option: str = ""
    """The option whose default it is, and which may say otherwise: `args.dist_backend`."""


@dataclass(frozen=True, slots=True)
class CollectiveCalled(Event):
    """A tensor is given to a collective operation of the default group."""

    site: Site = field(repr=False)
    operation: str
    operand: Operand
    standing: Standing = CERTAIN


@dataclass(frozen=True, slots=True)
class ParallelWrapped(Event):
    """DistributedDataParallel is put around a module; `devices` are its device_ids."""

    site: Site = field(repr=False)
    module: Operand
    devices: tuple[Device, ...] = ()
    given: Site = field(default=None, repr=False)
    """The argument that names the devices."""


@dataclass(frozen=True, slots=True)
class ParallelCalled(Event):
    """A DataParallel is called, which needs its module on the first of its devices."""

    site: Site = field(repr=False)
    wrapped: Site = field(repr=False)
    """Where it was put around the module."""
    module: Operand
    first: Device

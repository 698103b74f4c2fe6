"""Where the values of one walk are: what an editor may ask about, noted while it runs."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import libcst as cst

from devicelint.domain.devices import Device, Unsure
from devicelint.domain.events import (
    Assigned,
    DiscardedTransfer,
    Evaluated,
    Event,
    Transfer,
)
from devicelint.domain.history import Site, Step
from devicelint.domain.values import Batch, Distribution, Module, Placed, Tensor, TensorDict, Tuple
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.torch.reveal import HOST_MEMORY, revealed_device
from devicelint.views.why import WITHOUT_PLACE, chain, remember, since


@dataclass(frozen=True)
class PlacedExpression:
    """An expression, the device of its value, and the steps that led there."""

    site: cst.CSTNode
    device: str
    steps: tuple[tuple[Site, str], ...]


@dataclass(frozen=True)
class MarkedName:
    """What gets a value, or is moved, and on which device it is then."""

    site: cst.CSTNode
    name: str
    """Of what is assigned; nothing for a module that is moved where it is."""
    device: str


NOTED = (Assigned, Evaluated, Transfer, DiscardedTransfer)


class WalkNotes:
    """The whereabouts of values in one walk.

    Every expression comes by here, most of them many times with a value of the same history: what
    is the same object as before is distinguished by its identity, and kept so that it stays apart.
    """

    def __init__(self) -> None:
        self.placed: dict[tuple[int, int, int], PlacedExpression] = {}
        self.marked: dict[MarkedName, None] = {}
        self._read: set[int] = set()
        self._before: dict[Site, Step] = {}
        self._known: dict[tuple[int, int], tuple[Step, Frame, _Steps]] = {}
        self._same: dict[_Steps, _Steps] = {}
        self._devices: dict[int, tuple[Device, str]] = {}

    def end(self) -> None:
        """Let go of what served the walk alone: frames, and all that was known in them."""
        self._known.clear()
        self._before.clear()
        self._read.clear()

    def note(self, event: Event, run: Run) -> None:
        """Take note of a move, or of a name that gets a value."""
        match event:
            case Transfer():
                remember(event, run, self._before)
            case DiscardedTransfer(transfer) if isinstance(transfer.receiver, Module):
                if transfer.target not in (None, transfer.origin):
                    self._mark(transfer.site, "", str(transfer.target))
            case Assigned(site, name, value):
                device = self.place(event, run)
                # What is read where it gets a value is no target: it is known better from there on.
                is_target = name != "_" and id(site) not in self._read
                if device and is_target and isinstance(value, _SHOWN):
                    self._mark(site, name, device)
            case _:
                pass

    def read(self, event: Evaluated, run: Run) -> None:
        """Take note of an expression."""
        self._read.add(id(event.site))
        self.place(event, run)

    def place(self, event: Assigned | Evaluated, run: Run) -> str:
        """Take note of where a value is; nothing where that is not known, or it is nowhere."""
        value = event.value
        if isinstance(value, WITHOUT_PLACE):
            return ""
        device = revealed_device(run, value)
        if isinstance(device, Unsure) or device is HOST_MEMORY:
            return ""
        _, name = self._devices.get(id(device)) or self._named(device)
        steps = self._steps(since(value, run), run)
        key = (id(event.site), id(steps), id(name))
        if key not in self.placed:
            self.placed[key] = PlacedExpression(node_of(event.site), name, steps)
        return name

    def _named(self, device: Device) -> tuple[Device, str]:
        named = self._devices[id(device)] = device, sys.intern(str(device))
        return named

    def _steps(self, step: Step | None, run: Run) -> _Steps:
        if step is None:
            return ()
        key = (id(step), id(run.frame))
        known = self._known.get(key)
        if known is None:
            steps = tuple(chain(step, run, self._before))
            steps = self._same.setdefault(steps, steps)
            known = self._known[key] = step, run.frame, steps
        return known[2]

    def _mark(self, site: Site, name: str, device: str) -> None:
        self.marked[MarkedName(node_of(site), name, device)] = None


_Steps = tuple[tuple[Site, str], ...]
_SHOWN = (Batch, TensorDict, Distribution, Module, Placed, Tensor, Tuple)


def node_of(site: Site) -> cst.CSTNode:
    """The node that a site is."""
    assert isinstance(site, cst.CSTNode)
    return site

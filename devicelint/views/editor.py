"""What an editor shows of a file, from one walk: its findings, where its values are, and why."""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

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
from devicelint.domain.values import Batch, Bundle, Distribution, Module, Moved, Tensor, Tuple
from devicelint.domain.worlds import World
from devicelint.finding import Elsewhere, Span
from devicelint.interpreter import Program
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.run import Listener, Run
from devicelint.interpreter.torch.reveal import HOST_MEMORY, revealed_device
from devicelint.linter.collector import Collector, parent_of
from devicelint.linter.locations import located_elsewhere
from devicelint.rules import Rule
from devicelint.text.positions import locate
from devicelint.text.source import SourceFile
from devicelint.views.why import WITHOUT_PLACE, chain, remember, since


class Abandoned(Exception):
    """Nobody wants to know any more what a walk would show."""


@dataclass(frozen=True)
class Whereabouts:
    """Where the value of one expression is, on which machines, and the steps that led there."""

    span: Span
    device: str
    machines: tuple[str, ...]
    """Nothing where it is there on all of them."""
    steps: tuple[Elsewhere, ...]


@dataclass(frozen=True)
class Mark:
    """What is worth to be shown beside the code: where an assigned value is, or goes."""

    offset: int
    text: str
    """As it follows the code: ": cuda:0"."""
    subject: Span
    """The expression that it speaks of."""
    told: tuple[Whereabouts, ...] = ()
    """All that is known of that."""


@dataclass(frozen=True)
class _Heard:
    site: cst.CSTNode
    device: str
    steps: tuple[tuple[Site, str], ...]


@dataclass(frozen=True)
class _Marked:
    site: cst.CSTNode
    name: str
    """Of what is assigned; nothing for a module that is moved where it is."""
    device: str


class Studying:
    """Lets the rules hear a walk, and takes note of where values are."""

    def __init__(self, rules: tuple[Rule, ...], is_abandoned: Callable[[], bool]) -> None:
        """Listen for some rules, for as long as anybody wants to know."""
        self.collector = Collector(rules)
        self.wanted = self.collector.wanted | {one.__name__ for one in _NOTED}
        """The names of the events that matter."""
        self._is_abandoned = is_abandoned
        self._notes: dict[World, _Notes] = {}

    def listener_for(self, world: World) -> Listener:
        """The listener of one walk; a walk that is given up is forgotten."""
        if self._is_abandoned():
            raise Abandoned
        tell = self.collector.listener_for(world)
        self._notes.pop(parent_of(world) or world, None)
        notes = self._notes[world] = _Notes()
        is_abandoned = self._is_abandoned

        def hear(event: Event, run: Run) -> None:
            if isinstance(event, Evaluated):
                notes.read(event, run)
                return
            if is_abandoned():
                raise Abandoned
            if isinstance(event, _NOTED):
                notes.note(event, run)
            if not isinstance(event, Transfer) or run.concerns(event):
                tell(event, run)

        return hear

    def studied(self, source: SourceFile, program: Program, imported: Iterable[Program]) -> Studied:
        """What was noted of a file."""
        for notes in self._notes.values():
            notes.end()
        return Studied(source, program, tuple(imported), self._notes)


_NOTED = (Assigned, Evaluated, Transfer, DiscardedTransfer)


class _Notes:
    """The whereabouts of values in one walk.

    Every expression comes by here, most of them many times with a value of the same history: what
    is the same object as before is told apart by its identity, and kept so that it stays apart.
    """

    def __init__(self) -> None:
        self.heard: dict[tuple[int, int, int], _Heard] = {}
        self.marked: dict[_Marked, None] = {}
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
        _, told = self._devices.get(id(device)) or self._told(device)
        steps = self._steps(since(value, run), run)
        key = (id(event.site), id(steps), id(told))
        if key not in self.heard:
            self.heard[key] = _Heard(_node(event.site), told, steps)
        return told

    def _told(self, device: Device) -> tuple[Device, str]:
        told = self._devices[id(device)] = device, sys.intern(str(device))
        return told

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
        self.marked[_Marked(_node(site), name, device)] = None


_Steps = tuple[tuple[Site, str], ...]
_SHOWN = (Batch, Bundle, Distribution, Module, Moved, Tensor, Tuple)


@dataclass(frozen=True, eq=False)
class Studied:
    """Where the values of a file are, at any place that somebody asks about."""

    source: SourceFile
    _program: Program
    _imported: tuple[Program, ...]
    _notes: dict[World, _Notes]

    @cached_property
    def marks(self) -> tuple[Mark, ...]:
        """What is worth to be shown beside the code, on a machine with an accelerator."""
        devices: dict[tuple[cst.CSTNode, str], dict[str, None]] = {}
        for world, notes in self._notes.items():
            for one in notes.marked if world.accelerators == 1 else ():
                devices.setdefault((one.site, one.name), {})[one.device] = None
        marks = (self._mark(*key, " or ".join(told)) for key, told in devices.items())
        return tuple(sorted(filter(None, marks), key=lambda mark: (mark.offset, mark.text)))

    def _mark(self, site: cst.CSTNode, name: str, device: str) -> Mark | None:
        span = self._spans.get(site)
        if span is None:
            return None
        if not name:
            return Mark(span.end, f" → {device}", span, self._told_of(span))
        end = span.start + len(name)
        if self.source.code[span.start : end] != name:
            return None
        subject = Span(span.start, end)
        return Mark(end, f": {device}", subject, self._told_of(subject))

    @cached_property
    def whereabouts(self) -> tuple[Whereabouts, ...]:
        """Where each expression's value is, in the order of the text."""
        machines: dict[_Heard, list[str]] = {}
        for world, notes in self._notes.items():
            for one in dict.fromkeys(notes.heard.values()):
                machines.setdefault(one, []).append(world.description)
        every = len(self._notes) if len(self._notes) > 1 else 0
        told = (
            self._told(one, () if len(places) == every else tuple(places))
            for one, places in machines.items()
        )
        return tuple(sorted(filter(None, told), key=lambda one: one.span))

    def _told_of(self, span: Span) -> tuple[Whereabouts, ...]:
        first = bisect_left(self.whereabouts, span, key=lambda one: one.span)
        last = bisect_right(self.whereabouts, span, key=lambda one: one.span)
        return self.whereabouts[first:last]

    def at(self, offset: int) -> tuple[Whereabouts, ...]:
        """Where the value of the innermost expression around a place is, on each machine."""
        around = [one for one in self.whereabouts if one.span.start <= offset <= one.span.end]
        inner = min((one.span.end - one.span.start for one in around), default=0)
        return tuple(one for one in around if one.span.end - one.span.start == inner)

    def _told(self, one: _Heard, machines: tuple[str, ...]) -> Whereabouts | None:
        span = self._spans.get(one.site)
        if span is None:
            return None
        steps = (self._step(_node(site), message) for site, message in one.steps)
        return Whereabouts(span, one.device, machines, tuple(filter(None, steps)))

    def _step(self, site: cst.CSTNode, message: str) -> Elsewhere | None:
        if site in self._spans:
            line, column, cell = self.source.location(self._spans[site].start)
            return Elsewhere(self.source.path, line, column, message, cell)
        return replace(self._far[site], message=message) if site in self._far else None

    @cached_property
    def _spans(self) -> dict[cst.CSTNode, Span]:
        try:
            return locate(self._program.tree, self.source, self._sites())
        except RecursionError:  # It can be walked to its end, and not written.
            return {}

    @cached_property
    def _far(self) -> dict[cst.CSTNode, Elsewhere]:
        sites = [site for site in self._sites() if site not in self._spans]
        return located_elsewhere(sites, self._imported)

    def _sites(self) -> dict[cst.CSTNode, None]:
        sites: dict[cst.CSTNode, None] = {}
        for notes in self._notes.values():
            for one in notes.heard.values():
                sites[one.site] = None
                sites.update((_node(site), None) for site, _ in one.steps)
            sites.update((one.site, None) for one in notes.marked)
        return sites


def _node(site: Site) -> cst.CSTNode:
    assert isinstance(site, cst.CSTNode)
    return site

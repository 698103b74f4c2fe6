"""What an editor shows of a file, from one walk: its findings, where its values are, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import libcst as cst

from devicelint.domain.devices import Unsure
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
from devicelint.explaining import WITHOUT_PLACE, chain, remember, since
from devicelint.finding import Elsewhere, Span
from devicelint.gathering import Gathering, parent_of
from devicelint.interpreter import Program
from devicelint.interpreter.reveal import revealed_device
from devicelint.interpreter.run import Listener, Run
from devicelint.locating import located_elsewhere
from devicelint.positions import locate
from devicelint.rules import Rule
from devicelint.source import SourceFile


class Abandoned(Exception):
    """Nobody wants to know any more what a walk would show."""


@dataclass(frozen=True)
class Whereabouts:
    """Where the value of one expression is, on which machines, and the steps that led there."""

    span: Span
    device: str
    machines: tuple[str, ...]
    steps: tuple[Elsewhere, ...]


@dataclass(frozen=True)
class Mark:
    """What is worth to be shown beside the code: where an assigned value is, or goes."""

    offset: int
    text: str
    """As it follows the code: ": cuda:0"."""
    subject: Span
    """The expression that it speaks of."""


@dataclass(frozen=True)
class _Heard:
    site: Site
    device: str
    chain: tuple[tuple[Site, str], ...]


class Studying:
    """Lets the rules hear a walk, and takes note of where values are."""

    def __init__(self, rules: tuple[Rule, ...], is_abandoned: Callable[[], bool]) -> None:
        """Listen for some rules, for as long as anybody wants to know."""
        self.gathering = Gathering(rules)
        self.wanted = self.gathering.wanted | {one.__name__ for one in _NOTED}
        """The names of the events that matter."""
        self._is_abandoned = is_abandoned
        self._heard: dict[World, dict[_Heard, None]] = {}
        self._marked: dict[World, dict[tuple[Site, str, str], None]] = {}

    def listener_for(self, world: World) -> Listener:
        """The listener of one walk; a walk that is given up is forgotten."""
        tell = self.gathering.listener_for(world)
        for table in (self._heard, self._marked):
            table.pop(parent_of(world) or world, None)
        noting = _Noting(self._heard.setdefault(world, {}), self._marked.setdefault(world, {}))

        def hear(event: Event, run: Run) -> None:
            if self._is_abandoned():
                raise Abandoned
            if isinstance(event, _NOTED):
                noting.note(event, run)
            if not isinstance(event, Evaluated) and run.concerns(event):
                tell(event, run)

        return hear

    def studied(self, source: SourceFile, program: Program, imported: Iterable[Program]) -> Studied:
        """What was noted of a file."""
        return Studied(source, program, tuple(imported), self._heard, self._marked)


_NOTED = (Assigned, Evaluated, Transfer, DiscardedTransfer)


class _Noting:
    """Takes note of the whereabouts of values in one walk."""

    def __init__(
        self, heard: dict[_Heard, None], marked: dict[tuple[Site, str, str], None]
    ) -> None:
        self._heard = heard
        self._marked = marked
        self._before: dict[Site, Step] = {}

    def note(self, event: Event, run: Run) -> None:
        match event:
            case Transfer():
                remember(event, run, self._before)
            case DiscardedTransfer(transfer) if isinstance(transfer.receiver, Module):
                if transfer.target not in (None, transfer.origin):
                    self._marked[transfer.site, "", str(transfer.target)] = None
            case Assigned() | Evaluated() if not isinstance(event.value, WITHOUT_PLACE):
                self._place(event, run)
            case _:
                pass

    def _place(self, event: Assigned | Evaluated, run: Run) -> None:
        device = revealed_device(run, event.value)
        if isinstance(device, Unsure) or str(device) == "host":
            return
        told = str(device)
        steps = tuple(chain(since(event.value, run), run, self._before))
        self._heard[_Heard(event.site, told, steps)] = None
        if isinstance(event, Assigned) and isinstance(event.value, _SHOWN):
            self._marked[event.site, event.name, told] = None


_SHOWN = (Batch, Bundle, Distribution, Module, Moved, Tensor, Tuple)


@dataclass(frozen=True, eq=False)
class Studied:
    """Where the values of a file are, at any place that somebody asks about."""

    source: SourceFile
    _program: Program
    _imported: tuple[Program, ...]
    _heard: dict[World, dict[_Heard, None]]
    _marked: dict[World, dict[tuple[Site, str, str], None]]

    @cached_property
    def marks(self) -> tuple[Mark, ...]:
        """What is worth to be shown beside the code, on a machine with an accelerator."""
        devices: dict[tuple[Site, str], dict[str, None]] = {}
        for world, marked in self._marked.items():
            for site, name, device in marked if world.accelerators == 1 else ():
                devices.setdefault((site, name), {})[device] = None
        return tuple(
            sorted(
                (
                    mark
                    for (site, name), told in devices.items()
                    if (mark := self._mark(site, name, " or ".join(told)))
                ),
                key=lambda mark: (mark.offset, mark.text),
            )
        )

    def _mark(self, site: Site, name: str, device: str) -> Mark | None:
        span = self._spans.get(_node(site))
        if span is None:
            return None
        if not name:
            return Mark(span.end, f" → {device}", span)
        end = span.start + len(name)
        if self.source.code[span.start : end] != name:
            return None
        return Mark(end, f": {device}", Span(span.start, end))

    @cached_property
    def whereabouts(self) -> tuple[Whereabouts, ...]:
        """Where each expression's value is, in the order of the text."""
        machines: dict[_Heard, list[str]] = {}
        for world, heard in self._heard.items():
            for one in heard:
                machines.setdefault(one, []).append(world.description)
        told = (self._told(one, tuple(places)) for one, places in machines.items())
        return tuple(sorted(filter(None, told), key=lambda one: one.span))

    def at(self, offset: int) -> tuple[Whereabouts, ...]:
        """Where the value of the innermost expression around a place is, on each machine."""
        around = [one for one in self.whereabouts if one.span.start <= offset <= one.span.end]
        inner = min((one.span.end - one.span.start for one in around), default=0)
        return tuple(one for one in around if one.span.end - one.span.start == inner)

    def _told(self, one: _Heard, machines: tuple[str, ...]) -> Whereabouts | None:
        span = self._spans.get(_node(one.site))
        if span is None:
            return None
        steps = (self._step(_node(site), message) for site, message in one.chain)
        return Whereabouts(span, one.device, machines, tuple(filter(None, steps)))

    def _step(self, site: cst.CSTNode, message: str) -> Elsewhere | None:
        if site in self._spans:
            line, column, cell = self.source.location(self._spans[site].start)
            return Elsewhere(self.source.path, line, column, message, cell)
        return replace(self._far[site], message=message) if site in self._far else None

    @cached_property
    def _spans(self) -> dict[cst.CSTNode, Span]:
        return locate(self._program.tree, self.source, self._sites())

    @cached_property
    def _far(self) -> dict[cst.CSTNode, Elsewhere]:
        sites = [site for site in self._sites() if site not in self._spans]
        return located_elsewhere(sites, self._imported)

    def _sites(self) -> dict[cst.CSTNode, None]:
        sites: dict[cst.CSTNode, None] = {}
        for heard in self._heard.values():
            for one in heard:
                sites[_node(one.site)] = None
                sites.update((_node(site), None) for site, _ in one.chain)
        for marked in self._marked.values():
            sites.update((_node(site), None) for site, _, _ in marked)
        return sites


def _node(site: Site) -> cst.CSTNode:
    assert isinstance(site, cst.CSTNode)
    return site

"""What an editor shows beside the code of a file: devices, and the steps that led there."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace
from functools import cached_property

import libcst as cst

from devicelint.domain.worlds import World
from devicelint.finding import Elsewhere, Span
from devicelint.interpreter import Program
from devicelint.linter.locations import located_elsewhere
from devicelint.text.positions import locate
from devicelint.text.source import SourceFile
from devicelint.views.editor_notes import PlacedExpression, WalkNotes, node_of


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
    whereabouts: tuple[Whereabouts, ...] = ()
    """All that is known of that."""


@dataclass(frozen=True, eq=False)
class EditorSnapshot:
    """Where the values of a file are, at any place that somebody asks about."""

    source: SourceFile
    _program: Program
    _imported: tuple[Program, ...]
    _notes: dict[World, WalkNotes]

    @cached_property
    def marks(self) -> tuple[Mark, ...]:
        """What is worth to be shown beside the code, on a machine with an accelerator."""
        devices: dict[tuple[cst.CSTNode, str], dict[str, None]] = {}
        for world, notes in self._notes.items():
            for marked in notes.marked if world.accelerators == 1 else ():
                devices.setdefault((marked.site, marked.name), {})[marked.device] = None
        marks = (self._mark(*key, " or ".join(names)) for key, names in devices.items())
        return tuple(sorted(filter(None, marks), key=lambda mark: (mark.offset, mark.text)))

    def _mark(self, site: cst.CSTNode, name: str, device: str) -> Mark | None:
        span = self._spans.get(site)
        if span is None:
            return None
        if not name:
            return Mark(span.end, f" → {device}", span, self._whereabouts_at(span))
        end = span.start + len(name)
        if self.source.code[span.start : end] != name:
            return None
        subject = Span(span.start, end)
        return Mark(end, f": {device}", subject, self._whereabouts_at(subject))

    @cached_property
    def whereabouts(self) -> tuple[Whereabouts, ...]:
        """Where each expression's value is, in the order of the text."""
        machines: dict[PlacedExpression, list[str]] = {}
        for world, notes in self._notes.items():
            for placed in dict.fromkeys(notes.placed.values()):
                machines.setdefault(placed, []).append(world.description)
        every = len(self._notes) if len(self._notes) > 1 else 0
        found = (
            self._whereabouts(placed, () if len(places) == every else tuple(places))
            for placed, places in machines.items()
        )
        return tuple(sorted(filter(None, found), key=lambda one: one.span))

    def _whereabouts_at(self, span: Span) -> tuple[Whereabouts, ...]:
        first = bisect_left(self.whereabouts, span, key=lambda one: one.span)
        last = bisect_right(self.whereabouts, span, key=lambda one: one.span)
        return self.whereabouts[first:last]

    def at(self, offset: int) -> tuple[Whereabouts, ...]:
        """Where the value of the innermost expression around a place is, on each machine."""
        around = [one for one in self.whereabouts if one.span.start <= offset <= one.span.end]
        inner = min((one.span.end - one.span.start for one in around), default=0)
        return tuple(one for one in around if one.span.end - one.span.start == inner)

    def _whereabouts(
        self, placed: PlacedExpression, machines: tuple[str, ...]
    ) -> Whereabouts | None:
        span = self._spans.get(placed.site)
        if span is None:
            return None
        steps = (self._step(node_of(site), message) for site, message in placed.steps)
        return Whereabouts(span, placed.device, machines, tuple(filter(None, steps)))

    def _step(self, site: cst.CSTNode, message: str) -> Elsewhere | None:
        if site in self._spans:
            line, column, cell = self.source.location(self._spans[site].start)
            return Elsewhere(self.source.path, line, column, message, cell)
        return replace(self._far[site], message=message) if site in self._far else None

    @cached_property
    def _spans(self) -> dict[cst.CSTNode, Span]:
        try:
            return locate(self._program.tree, self.source, self._sites())
        except (RecursionError, ValueError):
            # It can be walked to its end, and not written; or its layout has changed meanwhile.
            return {}

    @cached_property
    def _far(self) -> dict[cst.CSTNode, Elsewhere]:
        sites = [site for site in self._sites() if site not in self._spans]
        try:
            return located_elsewhere(sites, self._imported)
        except ValueError:  # The layout of one of them has changed meanwhile.
            return {}

    def _sites(self) -> dict[cst.CSTNode, None]:
        sites: dict[cst.CSTNode, None] = {}
        for notes in self._notes.values():
            for one in notes.placed.values():
                sites[one.site] = None
                sites.update((node_of(site), None) for site, _ in one.steps)
            sites.update((one.site, None) for marked in notes.marked)
        return sites

"""What is known of a page: its findings and its values, or what was last known of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeVar

from devicelint.finding import Finding, InputError, Related, Span
from devicelint.server.open_documents import Page
from devicelint.text.source import SourceFile
from devicelint.views.editor_snapshot import EditorSnapshot, Mark, Whereabouts


@dataclass(frozen=True, eq=False)
class Analysis:
    """What was found in one version of a page."""

    page: Page
    findings: tuple[Finding, ...] = ()
    snapshots: tuple[EditorSnapshot, ...] = ()
    problem: InputError | None = None
    """Why this version cannot be checked."""
    reached: frozenset[str] = frozenset()
    """The absolute paths of the files that it imports, as far as was seen."""
    before: Analysis | None = field(default=None, repr=False)
    """What was found in the last version that could be checked, where this one cannot be."""

    fixed_by: dict[Finding, SourceFile | None] = field(default_factory=dict, repr=False)
    """What the fixes of findings make of the page, as far as anybody asked; None for harm."""

    @property
    def is_of_now(self) -> bool:
        """Whether its places are those of the page, so that fixes fit."""
        return self.before is None

    def shown(self) -> tuple[Finding, ...]:
        """The findings, at their places on the page."""
        if self.before is None:
            return self.findings
        return tuple(filter(None, map(self._moved, self.before.findings)))

    def marks(self) -> Iterator[Mark]:
        """What is shown beside the code, at its places on the page."""
        for mark in _all(one.marks for one in (self.before or self).snapshots):
            subject = self._shift.span(mark.subject)
            at = self._shift.span(Span(mark.offset, mark.offset))
            if subject is not None and at is not None:
                yield replace(mark, offset=at.start, subject=subject)

    def at(self, offset: int) -> tuple[Whereabouts, ...]:
        """Where the value around a place of the page is."""
        there = self._shift.back(offset)
        if there is None:
            return ()
        told = _all(one.at(there) for one in (self.before or self).snapshots)
        shown = ((one, self._shift.span(one.span)) for one in told)
        return tuple(replace(one, span=span) for one, span in shown if span is not None)

    @property
    def _shift(self) -> Shift:
        if self.before is None:
            return Shift("", "")
        return Shift(self.before.page.source.text, self.page.source.text)

    def _moved(self, finding: Finding) -> Finding | None:
        span = self._shift.span(finding.span)
        if span is None:
            return None
        related = ((self._shift.span(one.span), one.message) for one in finding.related)
        kept = tuple(Related(place, message) for place, message in related if place is not None)
        return replace(finding, span=span, related=kept, fix=None)


_Told = TypeVar("_Told", Mark, Whereabouts)


def _all(many: Iterable[tuple[_Told, ...]]) -> Iterator[_Told]:
    for each in many:
        yield from each


class Shift:
    """From places of a text to those of another, which differs from it in one stretch."""

    def __init__(self, before: str, after: str) -> None:
        """Find where the two differ."""
        self._start = common(before, after)
        most = min(len(before), len(after)) - self._start
        tails = before[len(before) - most :][::-1], after[len(after) - most :][::-1]
        self._end = len(before) - common(*tails)
        self._by = len(after) - len(before)
        self._is_none = before == after

    def span(self, span: Span) -> Span | None:
        """Where some characters are now; None where some of them were changed."""
        if self._is_none or span.end <= self._start:
            return span
        if span.start >= self._end:
            return Span(span.start + self._by, span.end + self._by)
        return None

    def back(self, offset: int) -> int | None:
        """Where a character was before; None for a new one."""
        if self._is_none or offset <= self._start:
            return offset
        return offset - self._by if offset >= self._end + self._by else None


def common(one: str, other: str) -> int:
    """How many characters two texts have in common at their beginnings."""
    most = min(len(one), len(other))
    return next((at for at in range(most) if one[at] != other[at]), most)

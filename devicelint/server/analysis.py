"""What is known of a document: its findings and its values, or what was last known of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from devicelint.finding import Finding, InputError, Related, Span
from devicelint.server.open_documents import OpenDocument
from devicelint.text.source import SourceFile

if TYPE_CHECKING:
    from devicelint.views.editor import OwnAnalysis
    from devicelint.views.editor_snapshot import EditorSnapshot, Mark, Whereabouts


@dataclass(frozen=True, eq=False)
class DocumentAnalysis:
    """What was found in one version of a document."""

    document: OpenDocument
    findings: tuple[Finding, ...] = ()
    snapshots: tuple[EditorSnapshot, ...] = ()
    problem: InputError | None = None
    """Why this version cannot be checked."""
    reached: frozenset[str] = frozenset()
    """The absolute paths of the files that it imports, as far as was seen."""
    unfinished: OwnAnalysis | None = field(default=None, repr=False)
    """What the document shows by itself, while the programs around are still to be asked."""
    is_same_code: bool = False
    """Whether its code is that of the last version that was checked, and all that it looks at."""
    before: DocumentAnalysis | None = field(default=None, repr=False)
    """What was found in the last version that could be checked, where this one cannot be."""

    fixed_by: dict[Finding, SourceFile | None] = field(default_factory=dict, repr=False)
    """What the fixes of findings make of the document, as far as anybody asked; None for harm."""

    @property
    def is_of_now(self) -> bool:
        """Whether its places are those of the document, so that fixes fit."""
        return self.before is None

    def mentions(self, home: str) -> bool:
        """Whether a finding shows a place of another file."""
        return any(
            os.path.abspath(place.path) == home for one in self.findings for place in one.elsewhere
        )

    def shown(self) -> tuple[Finding, ...]:
        """The findings, at their places in the document."""
        if self.before is None:
            return self.findings
        return tuple(filter(None, map(self._moved, self.before.findings)))

    def marks(self) -> Iterator[Mark]:
        """What is shown beside the code, at its places in the document."""
        for mark in _all(one.marks for one in (self.before or self).snapshots):
            subject = self._shift.span(mark.subject)
            at = self._shift.span(Span(mark.offset, mark.offset))
            if subject is not None and at is not None:
                yield replace(mark, offset=at.start, subject=subject)

    def at(self, offset: int) -> tuple[Whereabouts, ...]:
        """Where the value around a place of the document is."""
        there = self._shift.back(offset)
        if there is None:
            return ()
        found = _all(one.at(there) for one in (self.before or self).snapshots)
        shown = ((one, self._shift.span(one.span)) for one in found)
        return tuple(replace(one, span=span) for one, span in shown if span is not None)

    @property
    def _shift(self) -> Shift:
        if self.before is None:
            return Shift("", "")
        return Shift(self.before.document.source.text, self.document.source.text)

    def _moved(self, finding: Finding) -> Finding | None:
        span = self._shift.span(finding.span)
        if span is None:
            return None
        related = ((self._shift.span(one.span), one.message) for one in finding.related)
        kept = tuple(Related(place, message) for place, message in related if place is not None)
        return replace(finding, span=span, related=kept, fix=None)


_Shown = TypeVar("_Shown", bound="Mark | Whereabouts")


def _all(many: Iterable[tuple[_Shown, ...]]) -> Iterator[_Shown]:
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

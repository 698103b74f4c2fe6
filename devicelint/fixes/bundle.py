"""Several files as one text, so that what holds for the fixes of a file holds for those of many.

The texts stand one after the other, apart from each other by a character that no program has.
An edit of another file is then an edit like any other: `fix_until_stable` need not know.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate

from devicelint.finding import Edit, Finding, Location, Related, Span
from devicelint.text.source import Position, SourceFile

_BETWEEN = "\0"
"""What no source file contains: Python refuses it, and so does whoever reads the file."""


@dataclass(frozen=True)
class Joined:
    """A finding as it is in its own file."""

    path: str
    finding: Finding


@dataclass(frozen=True, repr=False)
class JoinedFiles(SourceFile):
    """The files that are changed together; its path is that of the first."""

    files: tuple[SourceFile, ...] = ()
    has_entry: bool = False
    """Whether what the first file gives the others decides what these need."""

    @classmethod
    def of(cls, files: Sequence[SourceFile], *, has_entry: bool = False) -> JoinedFiles:
        """Files as one; one at least."""
        text = _BETWEEN.join(file.text for file in files)
        return cls(text, files[0].path, files=tuple(files), has_entry=has_entry)

    def with_text(self, text: str) -> JoinedFiles:
        """The files with other texts; raises SourceError where one of them cannot be written."""
        texts = text.split(_BETWEEN)
        files = [f.with_text(t) for f, t in zip(self.files, texts, strict=True)]
        return JoinedFiles.of(files, has_entry=self.has_entry)

    def first_to_fix(self, findings: Sequence[Finding]) -> list[Finding]:
        """Those to begin with: what is fixed for them may fix the others.

        With an entry, they are its own; else those that another file makes.
        """
        if not self.has_entry or not findings:
            return [one for one in findings if self._crosses(one)] or list(findings)
        places = [self._index(finding.span.start) for finding in findings]
        first = min(places)
        return [one for one, place in zip(findings, places, strict=True) if place == first]

    def _crosses(self, finding: Finding) -> bool:
        edits = () if finding.fix is None else finding.fix.edits
        own = self._index(finding.span.start)
        return any(self._index(edit.span.start) != own for edit in edits)

    def _index(self, offset: int) -> int:
        return bisect_right(self._starts, offset) - 1

    def position(self, offset: int) -> Position:
        """The line and column in the file to which the character at `offset` belongs."""
        file, within = self._at(offset)
        return file.position(within)

    def location(self, offset: int) -> Location:
        """What people call that place."""
        file, within = self._at(offset)
        return file.location(within)

    def _at(self, offset: int) -> tuple[SourceFile, int]:
        index = self._index(offset)
        return self.files[index], offset - self._starts[index]

    def joined(self, found: Sequence[Iterable[Finding]]) -> Iterator[tuple[Finding, Joined]]:
        """The findings of each file, at their places in the text of all, with what they were."""
        for file, start, findings in zip(self.files, self._starts, found, strict=True):
            for finding in findings:
                yield _moved(finding, start, self), Joined(file.path, finding)

    def start_of(self, path: str) -> int | None:
        """Where the text of a file begins, by its absolute path; None where it is not here."""
        return self._starts_by_home.get(path)

    @cached_property
    def _starts(self) -> tuple[int, ...]:
        lengths = (len(file.text) + len(_BETWEEN) for file in self.files)
        return tuple(accumulate(lengths, initial=0))[:-1]

    @cached_property
    def _starts_by_home(self) -> dict[str, int]:
        homes = (os.path.abspath(file.path) for file in self.files)
        return dict(zip(homes, self._starts, strict=True))


def _moved(finding: Finding, start: int, bundle: JoinedFiles) -> Finding:
    """A finding in the text of all files, with the edits of the others among its own."""
    shifted = _shifted(finding, start)
    if finding.fix is None or shifted.fix is None or not finding.fix.elsewhere:
        return shifted
    edits = list(shifted.fix.edits)
    for other in finding.fix.elsewhere:
        there = bundle.start_of(other.path)
        if there is None:
            return replace(shifted, fix=None)
        edits += _edits_shifted(other.edits, there)
    return replace(shifted, fix=replace(shifted.fix, edits=_ordered(edits), elsewhere=()))


def _ordered(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """By place; insertions at one place keep their order."""
    return tuple(sorted(edits, key=lambda edit: edit.span))


def _shifted(finding: Finding, by: int) -> Finding:
    if not by:
        return finding
    related = tuple(Related(_span(one.span, by), one.message) for one in finding.related)
    fix = finding.fix
    if fix is not None:
        fix = replace(fix, edits=tuple(_edits_shifted(fix.edits, by)))
    return replace(finding, span=_span(finding.span, by), related=related, fix=fix)


def _edits_shifted(edits: Iterable[Edit], by: int) -> Iterator[Edit]:
    return (Edit(_span(edit.span, by), edit.content) for edit in edits)


def _span(span: Span, by: int) -> Span:
    return Span(span.start + by, span.end + by)

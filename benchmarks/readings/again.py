"""What is still said of what was read before: many of the right findings, and few others.

This measures nothing: what has been read is known, and devicelint was changed by it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.readings.checking import Found
from benchmarks.readings.verdicts import VERDICTS, ReadingError, entries_of

ALL = "all"


@dataclass(frozen=True, order=True)
class Line:
    """Where a finding stands, as far as every reading says."""

    repo: str
    file: str
    cell: int
    """The cell of a notebook; 0 where there is none."""
    line: int
    code: str

    def __str__(self) -> str:
        cell = f"cell {self.cell}:" if self.cell else ""
        return f"{self.repo} {self.file}:{cell}{self.line} {self.code}"


@dataclass(frozen=True)
class Again:
    """What was read, and what is said now.

    Attributes:
        before: the verdict on each place.
        now: the places of which something is said now, in the same repositories.
    """

    before: dict[Line, str]
    now: frozenset[Line]

    @property
    def new(self) -> list[Line]:
        """The places of which nothing was said when they were read."""
        return sorted(self.now - self.before.keys())

    def counts(self, code: str) -> Counter[tuple[str, bool]]:
        """How many places of a rule have a verdict, and are still spoken of."""
        return Counter(
            (verdict, line in self.now)
            for line, verdict in self.before.items()
            if code in (ALL, line.code)
        )

    def table(self) -> Iterator[str]:
        """Yield what is still said, by rule and verdict."""
        codes = sorted({line.code for line in (*self.before, *self.now)})
        yield f"{'still said of':8}{''.join(f'{verdict:>16}' for verdict in VERDICTS)}{'new':>8}"
        for code in (*codes, ALL):
            counts = self.counts(code)
            still = (_share(counts[verdict, True], counts[verdict, False]) for verdict in VERDICTS)
            new = sum(code in (ALL, line.code) for line in self.new)
            yield f"{code:13}{''.join(f'{text:>16}' for text in still)}{new:8}"


def _share(still: int, gone: int) -> str:
    every = still + gone
    return f"{still} of {every}" if every else "-"


def read_lines(paths: Iterable[Path], repositories: Iterable[str]) -> dict[Line, str]:
    """The verdicts on some repositories; earlier readings kept no more than these fields.

    Raises:
        ReadingError: one of them is missing, or is no verdict.
    """
    wanted = frozenset(repositories)
    found: dict[Line, str] = {}
    for path in paths:
        for where, entry in entries_of(path):
            try:
                cell = entry.get("cell") or 0
                line = Line(entry["repo"], entry["file"], cell, entry["line"], entry["code"])
                verdict = entry["verdict"]
            except KeyError as error:
                raise ReadingError(f"{where}: has no {error.args[0]}") from error
            if verdict not in VERDICTS:
                raise ReadingError(f"{where}: {verdict!r} is no verdict")
            if line.repo in wanted:
                found[line] = verdict
    return found


def compared(before: dict[Line, str], found: Sequence[Found]) -> Again:
    """What is said now, held against what was read."""
    now = (Line(one.repo, one.file, one.cell or 0, one.line, one.code) for one in found)
    return Again(before, frozenset(now))

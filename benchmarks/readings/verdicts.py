"""What readers said of the findings."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.readings.checking import Found

VERDICTS = ("right", "debatable", "wrong")

SHOWN = 3
"""So many places are named of those that are missing."""


class ReadingError(Exception):
    """What readers wrote, or what the ledger holds, is not whole; told in one line."""


class Place(NamedTuple):
    """What tells a finding from the others of a batch."""

    repo: str
    file: str
    cell: int | None
    line: int
    column: int
    code: str

    def __str__(self) -> str:
        cell = "" if self.cell is None else f"cell {self.cell}:"
        return f"{self.repo} {self.file}:{cell}{self.line}:{self.column} {self.code}"


@dataclass(frozen=True)
class Verdict:
    """What a reader said of one finding.

    Attributes:
        place: the finding.
        verdict: right, debatable or wrong.
        act: whether a maintainer would merge the fix.
        cause: what devicelint did not understand, in words that others share; empty where right.
        reason: the fact that decides, in a sentence.
        commit: of the repository; not known before the verdicts are merged.
        certainty: how devicelint knew the devices, likewise.
        text: a digest of the file, likewise.
    """

    place: Place
    verdict: str
    act: bool
    cause: str
    reason: str
    commit: str = ""
    certainty: str = ""
    text: str = ""

    def as_data(self) -> dict[str, Any]:
        """The verdict as a line of a batch's file; a cell only where there is one."""
        at = {name: value for name, value in self.place._asdict().items() if value is not None}
        said = {"verdict": self.verdict, "act": self.act, "cause": self.cause}
        found = {"commit": self.commit, "certainty": self.certainty, "text": self.text}
        return at | found | said | {"reason": self.reason}


def place_of(found: Found) -> Place:
    """Where a finding stands."""
    return Place(found.repo, found.file, found.cell, found.line, found.column, found.code)


def entries_of(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The entries of a file of JSON lines, each with the place that a complaint names.

    Raises:
        ReadingError: a line is no JSON object, or there is no such file.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ReadingError(f"{path}: {error.strerror}") from error
    for number, line in enumerate(lines, start=1):
        where = f"{path.name}:{number}"
        try:
            entry = json.loads(line)
        except ValueError as error:
            raise ReadingError(f"{where}: no JSON: {error}") from error
        if not isinstance(entry, dict):
            raise ReadingError(f"{where}: not an object")
        yield where, entry


def read_verdicts(path: Path) -> list[Verdict]:
    """The verdicts that a file holds.

    Raises:
        ReadingError: a verdict is not one, says not why, or lacks a part.
    """
    return [_verdict(where, entry) for where, entry in entries_of(path)]


def _verdict(where: str, entry: dict[str, Any]) -> Verdict:
    said = entry.get("verdict")
    if said not in VERDICTS:
        raise ReadingError(f"{where}: {said!r} is no verdict: it is one of {', '.join(VERDICTS)}")
    if not str(entry.get("reason") or "").strip():
        raise ReadingError(f"{where}: the verdict has no reason")
    if not isinstance(entry.get("act"), bool):
        raise ReadingError(f"{where}: whether a maintainer would act is not said")
    try:
        at = {name: entry[name] for name in Place._fields if name != "cell"}
    except KeyError as error:
        raise ReadingError(f"{where}: has no {error.args[0]}") from error
    return Verdict(
        Place(cell=entry.get("cell"), **at),
        str(said),
        entry["act"],
        entry.get("cause", ""),
        entry["reason"],
        entry.get("commit", ""),
        entry.get("certainty", ""),
        entry.get("text", ""),
    )


def joined(
    found: Sequence[Found], said: Iterable[Verdict], commits: dict[str, str]
) -> list[Verdict]:
    """The verdict on each finding, with what is known of the finding, in order of place.

    Raises:
        ReadingError: a finding has no verdict or two, or a verdict has no finding.
    """
    verdicts = list(said)
    by_place = {each.place: each for each in verdicts}
    places = {place_of(each) for each in found}
    twice = [place for place, count in Counter(v.place for v in verdicts).items() if count > 1]
    _refuse("verdicts on what was not found", by_place.keys() - places)
    _refuse("findings with two verdicts", twice)
    _refuse("findings that nobody has read", places - by_place.keys())
    in_order = sorted(found, key=lambda each: (*place_of(each)[:2], each.cell or 0, each.line))
    return [
        replace(
            by_place[place_of(each)],
            commit=commits.get(each.repo, ""),
            certainty=each.certainty,
            text=each.text,
        )
        for each in in_order
    ]


def _refuse(what: str, places: Iterable[Place]) -> None:
    named = sorted(map(str, places))
    if named:
        more = f" and {len(named) - SHOWN} more" if len(named) > SHOWN else ""
        raise ReadingError(f"{what}: {len(named)}: {'; '.join(named[:SHOWN])}{more}")

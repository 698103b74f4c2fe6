"""The mistakes that readers saw by themselves, before the findings were shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.readings.checking import Found
from benchmarks.readings.verdicts import ReadingError, entries_of


@dataclass(frozen=True)
class SeenBug:
    """A mistake that a reader saw before the findings were shown.

    Attributes:
        line: where it fails.
        causes: the other lines of the file that are at fault.
        what: it, in a sentence.
        found: whether a finding stands on one of these lines, or names the one that fails.
    """

    line: int
    causes: tuple[int, ...]
    what: str
    found: bool = False


@dataclass(frozen=True)
class SeenFile:
    """A file that a reader read, with the mistakes that the reader saw."""

    repo: str
    file: str
    bugs: tuple[SeenBug, ...]


def read_seen(path: Path) -> list[SeenFile]:
    """What readers saw in the files that they were given.

    Raises:
        ReadingError: a part is missing.
    """
    return [_seen(where, entry) for where, entry in entries_of(path)]


def _seen(where: str, entry: dict[str, Any]) -> SeenFile:
    try:
        bugs = tuple(
            SeenBug(each["line"], tuple(each["causes"]), each["what"], each.get("found", False))
            for each in entry["bugs"]
        )
        return SeenFile(entry["repo"], entry["file"], bugs)
    except (KeyError, TypeError) as error:
        raise ReadingError(f"{where}: needs repo, file and bugs: {error}") from error


def held_against(seen: SeenFile, found: Iterable[Found]) -> SeenFile:
    """The same, with whether devicelint found what the reader saw."""
    near = [each for each in found if each.repo == seen.repo]
    bugs = tuple(
        SeenBug(bug.line, bug.causes, bug.what, any(_names(each, seen, bug) for each in near))
        for bug in seen.bugs
    )
    return SeenFile(seen.repo, seen.file, bugs)


def _names(found: Found, seen: SeenFile, bug: SeenBug) -> bool:
    lines = range(found.line, found.end_line + 1)
    if found.file == seen.file and any(line in lines for line in (bug.line, *bug.causes)):
        return True
    return any(each.file == seen.file and each.line == bug.line for each in found.cited)

"""What was recorded of a subject, over all its processes and runs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.agreement.recording.places import Span


class Seen(NamedTuple):
    """What an expression gave."""

    device: str
    """`cpu`, `cuda:0`; several joined by "+", or "none", of a module; or "unreadable"."""
    what: str
    """`tensor`, `parameter` or `module`."""
    scalar: bool
    """Whether it was 0-dim."""


Call = Mapping[Span, frozenset[str]]
"""One call of a function that saw several devices: on which each expression was."""


@dataclass
class FunctionRecord:
    """The calls of one function; the statements of a file are one without a name.

    Attributes:
        name: as it is written.
        calls: how many of them gave a tensor or a module somewhere.
        mixed: those with several devices, each different one once, as far as they were kept.
    """

    name: str
    calls: int = 0
    mixed: dict[frozenset[tuple[Span, frozenset[str]]], int] = field(default_factory=dict)


@dataclass
class FileRecord:
    """What was recorded of one file.

    Attributes:
        expressions: how many are noted, whatever they give.
        places: of those that gave a tensor or a module, what, and how often.
        kinds: what these are, by their class in `ast`.
        functions: the functions that were called, by the line on which they begin.
        owned: by the qualified name of a class of modules, what its attributes were.
    """

    expressions: int = 0
    places: dict[Span, Counter[Seen]] = field(default_factory=dict)
    kinds: dict[Span, str] = field(default_factory=dict)
    functions: dict[tuple[int, str], FunctionRecord] = field(default_factory=dict)
    owned: dict[str, dict[str, set[str]]] = field(default_factory=dict)


@dataclass
class Record:
    """What was recorded, by file.

    Attributes:
        files: by their paths, below the root of the subject.
        failed: files that ran without notes.
        dropped: calls of which was not kept what they saw: there were too many.
        unfinished: lines that cannot be read.
    """

    files: dict[str, FileRecord] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)
    dropped: int = 0
    unfinished: int = 0


def read_record(folder: Path, root: Path, record: Record | None = None) -> Record:
    """What the processes of a run wrote into a folder, with paths below `root`.

    It is added to what was recorded before, if that is given.
    """
    record = Record() if record is None else record
    for path in sorted(folder.glob("*.jsonl")):
        _read_process(path, root.resolve(), record)
    return record


def _below(path: str, root: Path) -> str:
    real = Path(path).resolve()
    return real.relative_to(root).as_posix() if real.is_relative_to(root) else str(real)


def _read_process(path: Path, root: Path, record: Record) -> None:
    files: list[FileRecord] = []
    for line in _lines(path, record):
        if "file" in line:
            files.append(record.files.setdefault(_below(line["path"], root), FileRecord()))
            files[-1].expressions = max(files[-1].expressions, line["expressions"])
        elif "place" in line:
            _add_place(files, line)
        elif "function" in line:
            _add_calls(files, line)
        elif "class" in line:
            file = record.files.get(_below(line["path"], root))
            if file is not None:
                _add_class(file, line)
        elif "failed" in line:
            record.failed.add(_below(line["failed"], root))
        else:
            record.dropped += line.get("dropped", 0)


def _lines(path: Path, record: Record) -> Iterator[dict[str, Any]]:
    for text in filter(None, path.read_text(encoding="utf-8").splitlines()):
        with suppress(json.JSONDecodeError):
            yield json.loads(text)
            continue
        record.unfinished += 1


def _add_place(files: list[FileRecord], line: dict[str, Any]) -> None:
    number, *at = line["place"]
    span = Span(*at)
    files[number].kinds[span] = line["kind"]
    counts = files[number].places.setdefault(span, Counter())
    for device, what, scalar, times in line["seen"]:
        counts[Seen(device, what, scalar)] += times


def _add_calls(files: list[FileRecord], line: dict[str, Any]) -> None:
    number, first, name = line["function"]
    function = files[number].functions.setdefault((first, name), FunctionRecord(name))
    function.calls += line["calls"]
    for call, times in line["mixed"]:
        key = frozenset((Span(*at), frozenset(devices)) for at, devices in call)
        function.mixed[key] = function.mixed.get(key, 0) + times


def _add_class(file: FileRecord, line: dict[str, Any]) -> None:
    owned = file.owned.setdefault(line["class"], {})
    for name, kinds in line["owned"].items():
        owned.setdefault(name, set()).update(kinds)

"""A recording as it lies on disk, read back.

Every line of the file is a JSON object with a `type`. The state of a recording is its last line of
totals and the events after it, so a run that was killed leaves one that can be read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from runtime_guard._record_paths import rotated_name, siblings
from runtime_guard._record_values import (
    FORMAT,
    Event,
    Header,
    Kind,
    Recording,
    Spot,
    Tally,
    Values,
)

__all__ = [
    "Event",
    "Header",
    "Kind",
    "Recording",
    "RecordingError",
    "Spot",
    "Tally",
    "Values",
    "read",
]


class RecordingError(ValueError):
    """A file that is no recording, or one that this version cannot read."""


def read(path: str | Path) -> tuple[Recording, ...]:
    """Return the recordings of a run: its first process, then other ranks and child processes.

    Args:
        path: the file that was asked for. What belongs to it is found beside it: the rotated part,
            and the files of ranks and children; ranks of other machines are inside.

    Raises:
        RecordingError: the file is no recording.
        OSError: it cannot be read.
    """
    path = Path(path)
    first = _folded(path)
    recordings = [first.recording()]
    for sibling in siblings(path):
        found = _folded(sibling).recording()
        if _of_one_run(found.header, recordings[0].header):
            recordings.append(found)
    known = {_origin(each.header) for each in recordings}
    recordings += [each for each in first.ranks if _origin(each.header) not in known]
    return (recordings[0], *sorted(recordings[1:], key=_order))


def _of_one_run(other: Header, first: Header) -> bool:
    """Tell files of this run from those that an earlier one left under the same name."""
    if other.rank is not None and first.rank is not None:
        # Ranks start in any order, on clocks of their own.
        return other.world_size == first.world_size and other.started > first.started - 60
    return other.started >= first.started


def _origin(header: Header) -> tuple[str, int]:
    return (header.host, header.pid)


def _order(recording: Recording) -> tuple[bool, int, float]:
    header = recording.header
    return (header.rank is None, header.rank or 0, header.started)


def _folded(path: Path) -> _Fold:
    """Fold the lines of the file, after those of its rotated part."""
    rotated = rotated_name(path)
    fold = _Fold()
    # A run may be killed after the old file got its other name and before the new one is there.
    lines = list(_lines(path)) if path.exists() or not rotated.exists() else []
    if rotated.exists() and (not lines or lines[0][1].get("continues")):
        before = list(_lines(rotated))
        if not lines or _same_run(before, lines):
            fold.take(rotated, before)
    elif not lines and path.stat().st_size:
        raise RecordingError(f"{path}:1: not a recording of runtime_guard")
    elif not lines:
        raise RecordingError(f"{path}: empty, nothing was recorded")
    fold.take(path, lines)
    return fold


def _same_run(before: list[tuple[int, Any]], after: list[tuple[int, Any]]) -> bool:
    return bool(before) and all(before[0][1].get(k) == after[0][1].get(k) for k in ("pid", "host"))


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a file with the numbers of their lines; a cut last line is no line."""
    *lines, _cut = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, start=1):
        try:
            content = json.loads(line)
        except (ValueError, RecursionError):
            content = None
        if not isinstance(content, dict) or (number == 1 and content.get("type") != "header"):
            raise RecordingError(f"{path}:{number}: not a recording of runtime_guard")
        if number == 1 and content.get("format") != FORMAT:
            raise RecordingError(
                f"{path}:1: written in format {content.get('format')}, this version reads {FORMAT}"
            )
        yield number, content


class _Fold:
    """The state that lines add up to."""

    def __init__(self) -> None:
        self.header: Header | None = None
        self.totals: dict[Spot, Tally] = {}
        self.events: list[Event] = []
        self.values: Values = {}
        self.mismatches: dict[str, dict[str, Any]] = {}
        self.ranks: list[Recording] = []
        self.steps = self.dropped = 0
        self.complete = False

    def take(self, path: Path, lines: list[tuple[int, dict[str, Any]]]) -> None:
        for number, content in lines:
            self._add_line(f"{path}:{number}", content)

    def _add_line(self, place: str, content: dict[str, Any]) -> None:
        try:
            self.add(content)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            message = f"{place}: not a recording of runtime_guard ({error!r})"
            raise RecordingError(message) from error

    def add(self, content: dict[str, Any]) -> None:
        match content["type"]:
            case "header":
                self.header = _header(content)
                self.complete = False
            case "event":
                self._event(content)
            case "totals":
                self.totals, self.values = _totals(content), _values(content)
                self.steps, self.dropped = content["steps"], content.get("dropped", 0)
            case "mismatch":
                # Repeated after each rotation, lest they be rotated away.
                del content["type"]
                self.mismatches[json.dumps(content, sort_keys=True)] = content
            case "rank":
                self.ranks.append(_rank(content))
            case "end":
                self.complete = True
            case _:
                # A later version may write more; what it means to add to is above.
                pass

    def _event(self, content: dict[str, Any]) -> None:
        event = _event(content)
        self.events.append(event)
        tally = Tally(1, event.bytes, event.host_us, event.device_us)
        before = self.totals.get(event.spot)
        self.totals[event.spot] = before.plus(tally) if before else tally
        for name, device in content.get("values", {}).items():
            seen = self.values.setdefault((event.spot.file, event.spot.line, name), {})
            seen[device] = seen.get(device, 0) + 1
        self.steps = max(self.steps, content.get("step", 0))

    def recording(self) -> Recording:
        assert self.header is not None
        return Recording(
            self.header,
            self.totals,
            tuple(self.events),
            self.values,
            tuple(self.mismatches.values()),
            self.steps,
            self.complete,
            self.dropped,
        )


def _header(content: Mapping[str, Any]) -> Header:
    known = {each.name: content[each.name] for each in fields(Header)}
    return Header(**{**known, "argv": tuple(known["argv"])})


def _spot(content: Mapping[str, Any]) -> Spot:
    names = ("file", "line", "function", "kind", "op", "from", "to")
    return Spot(*(content[name] for name in names))


def _event(content: Mapping[str, Any]) -> Event:
    names = ("bytes", "host_us", "device_us", "thread")
    return Event(content["at"], _spot(content), *(content[name] for name in names))


def _totals(content: Mapping[str, Any]) -> dict[Spot, Tally]:
    names = ("count", "bytes", "host_us", "device_us")
    return {_spot(each): Tally(*(each[name] for name in names)) for each in content["spots"]}


def _values(content: Mapping[str, Any]) -> Values:
    return {
        (each["file"], each["line"], each["name"]): dict(each["devices"])
        for each in content["values"]
    }


def _rank(content: Mapping[str, Any]) -> Recording:
    """Read what another rank sent at its end: all but its events."""
    fold = _Fold()
    fold.add(content["header"])
    fold.add(content["totals"])
    for mismatch in content["mismatches"]:
        fold.add({**mismatch, "type": "mismatch"})
    fold.complete = True
    return fold.recording()

"""A recording as it lies on disk, read back.

Every line of the file is a JSON object with a `type`. The state of a recording is its last line of
totals and the events after it, so a run that was killed leaves one that can be read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from runtime_guard.profiler.recording import lines as read_line
from runtime_guard.profiler.recording.fields import (
    Content,
    FieldError,
    all_in,
    count,
    each,
    mapping,
    number,
    text,
)
from runtime_guard.profiler.recording.paths import rotated_name, siblings
from runtime_guard.profiler.recording.values import (
    FORMAT,
    Header,
    Kind,
    RecordedEvent,
    Recording,
    Spot,
    Tally,
    Values,
)

__all__ = [
    "Header",
    "Kind",
    "RecordedEvent",
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
    known = {_origin(recording.header) for recording in recordings}
    recordings += [rank for rank in first.ranks if _origin(rank.header) not in known]
    return (recordings[0], *sorted(recordings[1:], key=_order))


def _of_one_run(other: Header, first: Header) -> bool:
    """Distinguish files of this run from those that an earlier one left under the same name."""
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
    if path.is_dir():
        raise RecordingError(f"{path}: a folder, not a recording of runtime_guard")
    rotated = rotated_name(path)
    fold = _Fold()
    # A run may be killed after the old file got its other name and before the new one is there.
    lines = list(_lines(path)) if path.exists() or not rotated.is_file() else []
    if rotated.is_file() and (not lines or lines[0].content.get("continues")):
        before = list(_lines(rotated))
        if before and (not lines or _same_run(before[0], lines[0])):
            fold.take(before)
    elif not lines and path.stat().st_size:
        raise RecordingError(f"{path}:1: not a recording of runtime_guard")
    fold.take(lines)
    if fold.header is None:
        raise RecordingError(f"{path}: empty, nothing was recorded")
    return fold


def _same_run(before: _Line, after: _Line) -> bool:
    return all(before.content.get(key) == after.content.get(key) for key in ("pid", "host"))


class _Line(NamedTuple):
    place: str
    content: dict[str, Any]


def _refused(place: str, reason: object) -> RecordingError:
    return RecordingError(f"{place}: not a recording of runtime_guard ({reason})")


def _lines(path: Path) -> Iterator[_Line]:
    """Yield the objects of a file with the places of their lines; a cut last line is no line."""
    *lines, _cut = path.read_bytes().split(b"\n")
    for index, written in enumerate(lines):
        line = _line(f"{path}:{index + 1}", written)
        if index == 0:
            _check_first(line)
        yield line


def _line(place: str, written: bytes) -> _Line:
    try:
        return _Line(place, read_line.parsed(written))
    except FieldError as error:
        raise _refused(place, error) from None


def _check_first(line: _Line) -> None:
    if line.content["type"] != "header":
        raise _refused(line.place, "no header")
    written = line.content.get("format")
    if type(written) is int and written != FORMAT:
        raise RecordingError(
            f"{line.place}: written in format {written}, this version reads {FORMAT}"
        )


class _Fold:
    """The state that lines add up to."""

    def __init__(self) -> None:
        self.header: Header | None = None
        self.totals: dict[Spot, Tally] = {}
        self.events: list[RecordedEvent] = []
        self.values: Values = {}
        self.mismatches: dict[str, dict[str, Any]] = {}
        self.ranks: list[Recording] = []
        self.steps = self.dropped = 0
        self.seconds = 0.0
        self.complete = False

    def take(self, lines: list[_Line]) -> None:
        for line in lines:
            self._take(line)

    def _take(self, line: _Line) -> None:
        try:
            self._add(line.content)
        except FieldError as error:
            raise _refused(line.place, error) from None

    def _add(self, content: Content) -> None:
        match content["type"]:
            case "header":
                self.header = read_line.header(content)
                self.complete = False
            case "event":
                self._event(content)
            case "totals":
                self._totals(content)
            case "mismatch":
                self._mismatch(content)
            case "rank":
                self.ranks.append(_rank(content))
            case "end":
                self._last_until(number(content, "at"))
                self.complete = True
            case _:
                # A later version may write more; what it means to add to is above.
                pass

    def _event(self, content: Content) -> None:
        event = read_line.event(content)
        self.events.append(event)
        tally = Tally(1, event.bytes, event.host_us, event.device_us)
        before = self.totals.get(event.spot)
        self.totals[event.spot] = before.plus(tally) if before else tally
        for name, device in all_in(content, "values", text).items() if "values" in content else ():
            seen = self.values.setdefault((event.spot.file, event.spot.line, name), {})
            seen[device] = seen.get(device, 0) + 1
        if "step" in content:
            self.steps = max(self.steps, count(content, "step"))
        self._last_until(event.at + event.host_us / 1e6)

    def _totals(self, content: Content) -> None:
        self.totals, self.values = read_line.totals(content), read_line.values(content)
        self.steps = count(content, "steps")
        self.dropped = count(content, "dropped") if "dropped" in content else 0
        self._last_until(number(content, "at"))

    def _mismatch(self, content: Content) -> None:
        # Repeated after each rotation, lest they be rotated away.
        found = read_line.mismatch(content)
        self.mismatches[json.dumps(found, sort_keys=True)] = found

    def _last_until(self, at: float) -> None:
        # In the microseconds of the file.
        self.seconds = max(self.seconds, round(at, 6))

    def recording(self) -> Recording:
        assert self.header is not None
        return Recording(
            self.header,
            self.totals,
            tuple(self.events),
            self.values,
            tuple(self.mismatches.values()),
            self.steps,
            self.seconds,
            self.complete,
            self.dropped,
        )


def _rank(content: Content) -> Recording:
    """Read what another rank sent at its end: all but its events."""
    fold = _Fold()
    fold.header = read_line.header(mapping(content, "header"))
    fold._totals(mapping(content, "totals"))
    for mismatch in each(content, "mismatches", mapping):
        fold._mismatch(mismatch)
    fold.complete = True
    return fold.recording()

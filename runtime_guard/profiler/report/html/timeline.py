"""The events of a run as marks on lanes, few enough to draw and to carry in a page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from runtime_guard.profiler.recording.recording import RecordedEvent, Recording

MOST_EVENTS = 5_000
"""So many are drawn one by one; more are gathered."""

MOST_MARKS = 9_000
"""Never more than so many marks, at about 50 bytes each, gathered or not."""

MOST_LANES = 48

MOST_SPOTS = 2_000

KINDS = ("copy", "sync", "index")

Place: TypeAlias = tuple[str, int, str, str, str]
"""File, line, operation, source and target."""


@dataclass(frozen=True, slots=True, order=True)
class Lane:
    """Who was busy: a thread, by its number, or a device, in one of the processes."""

    process: int
    is_device: bool
    who: str


@dataclass(slots=True)
class TimelineMark:
    """Events of one kind on one lane: one, or those of a slice of time."""

    start: float
    end: float
    kind: str
    spot: int
    busy: float
    count: int = 1
    bytes: int = 0
    longest: float = 0.0

    def add(self, other: TimelineMark) -> None:
        """Take in a later one; the spot stays that of the longest."""
        self.end = max(self.end, other.end)
        self.busy += other.busy
        self.count += other.count
        self.bytes += other.bytes
        if other.longest > self.longest:
            self.spot, self.longest = other.spot, other.longest


@dataclass(frozen=True, slots=True)
class Timeline:
    """What is drawn.

    Attributes:
        seconds: how long the longest process was recorded.
        lanes: the busiest, in the order of processes and threads.
        marks: for each lane, in the order of time.
        spots: the lines of source that marks refer to; None stands for all that are one too many.
        events: how many events there were.
        slice: of so many seconds; a mark stands for all of one kind in it. 0 if for one event.
        hidden_lanes: how many lanes are left out.
    """

    seconds: float
    lanes: tuple[Lane, ...]
    marks: tuple[tuple[TimelineMark, ...], ...]
    spots: tuple[Place | None, ...]
    events: int
    slice: float
    hidden_lanes: int

    def to_dict(self, names: Sequence[str]) -> dict[str, Any]:
        """The same for the page's script, with the lanes' names; times in microseconds."""
        return {
            "seconds": self.seconds,
            "kinds": KINDS,
            "spots": self.spots,
            "lanes": [
                {"name": name, "device": lane.is_device, "marks": [_row(mark) for mark in marks]}
                for name, lane, marks in zip(names, self.lanes, self.marks, strict=True)
            ],
        }


def names(lanes: Sequence[Lane], recordings: Sequence[Recording]) -> list[str]:
    """`rank 1, main thread`; other threads have no name and are numbered."""
    known = processes(recordings)
    threads: dict[int, int] = {}
    found = []
    for lane in lanes:
        who = lane.who
        if not lane.is_device and who == str(recordings[lane.process].header.pid):
            who = "main thread"
        elif not lane.is_device:
            threads[lane.process] = threads.get(lane.process, 1) + 1
            who = f"thread {threads[lane.process]}"
        found.append(f"{known[lane.process]}, {who}" if len(recordings) > 1 else who)
    return found


def processes(recordings: Sequence[Recording]) -> list[str]:
    """`rank 1`; a process without a rank, or a child that inherited one, by its number."""
    found: list[str] = []
    for recording in recordings:
        rank = f"rank {recording.header.rank}"
        is_known = recording.header.rank is None or rank in found
        found.append(f"process {recording.header.pid}" if is_known else rank)
    return found


def timeline(recordings: Sequence[Recording]) -> Timeline:
    """Lay the events of all processes out on their lanes."""
    spots: dict[Place, int] = {}
    by_lane: dict[Lane, list[TimelineMark]] = {}
    for process, recording in enumerate(recordings):
        for event in recording.events:
            for lane, mark in _marks(process, event, spots):
                by_lane.setdefault(lane, []).append(mark)
    shown = sorted(sorted(by_lane, key=lambda lane: -len(by_lane[lane]))[:MOST_LANES])
    events = sum(len(recording.events) for recording in recordings)
    seconds = _length(recordings, by_lane.values())
    lanes = [sorted(by_lane[lane], key=lambda mark: mark.start) for lane in shown]
    width = 0.0
    if events > MOST_EVENTS and seconds:
        width = seconds * len(KINDS) * len(shown) / MOST_MARKS
        lanes = [_gathered(marks, width) for marks in lanes]
    return Timeline(
        seconds=seconds,
        lanes=tuple(shown),
        marks=tuple(map(tuple, lanes)),
        spots=_kept(lanes, tuple(spots)),
        events=events,
        slice=width,
        hidden_lanes=len(by_lane) - len(shown),
    )


def _length(recordings: Iterable[Recording], lanes: Iterable[Iterable[TimelineMark]]) -> float:
    """A device may have been busy when its recording had ended."""
    ends = [mark.end for marks in lanes for mark in marks]
    return max([*ends, *(recording.seconds for recording in recordings)], default=0.0)


def _marks(
    process: int, event: RecordedEvent, spots: dict[Place, int]
) -> Iterable[tuple[Lane, TimelineMark]]:
    """When a device did its part is not recorded: it is drawn from the time of the call."""
    spot = event.spot
    key = (spot.file, spot.line, spot.op, spot.source, spot.target)
    index = spots.setdefault(key, len(spots))
    device = spot.source if spot.target == "cpu" else spot.target
    for lane, microseconds in (
        (Lane(process, False, str(event.thread)), event.host_us),
        (Lane(process, True, device), event.device_us),
    ):
        if microseconds is not None:
            seconds = microseconds / 1e6
            end = event.at + seconds
            yield (
                lane,
                TimelineMark(event.at, end, spot.kind, index, seconds, 1, event.bytes, seconds),
            )


def _gathered(marks: Iterable[TimelineMark], width: float) -> list[TimelineMark]:
    found: dict[tuple[int, str], TimelineMark] = {}
    for mark in marks:
        key = (math.floor(mark.start / width), mark.kind)
        if key in found:
            found[key].add(mark)
        else:
            found[key] = mark
    return list(found.values())


def _kept(
    lanes: Iterable[Sequence[TimelineMark]], spots: Sequence[Place]
) -> tuple[Place | None, ...]:
    """Leave the spots of the longest marks, and let the marks refer to these."""
    longest: dict[int, float] = {}
    marks = [mark for lane in lanes for mark in lane]
    for mark in marks:
        longest[mark.spot] = max(longest.get(mark.spot, 0.0), mark.longest)
    order = sorted(longest, key=lambda spot: -longest[spot])
    places = {spot: place for place, spot in enumerate(order[:MOST_SPOTS])}
    for mark in marks:
        mark.spot = places.get(mark.spot, len(places))
    kept = [spots[spot] for spot in places]
    return (*kept, None) if len(order) > MOST_SPOTS else tuple(kept)


def _row(mark: TimelineMark) -> list[int]:
    """In the order in which the script reads them."""
    return [
        round(mark.start * 1e6),
        round((mark.end - mark.start) * 1e6),
        KINDS.index(mark.kind),
        mark.spot,
        round(mark.busy * 1e6),
        mark.count,
        mark.bytes,
    ]

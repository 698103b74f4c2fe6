"""What a page shows: lines, devices, values, moves, findings; plain values, and JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any


class LaneGroup(Enum):
    """Which kind of place a lane stands for."""

    HOST = "host"
    """Python's own memory: numbers and arrays."""
    CPU = "cpu"
    ACCELERATOR = "accelerator"
    CHOICE = "choice"
    """A device that the program is given, such as `args.device`."""
    CALLER = "caller"
    """Wherever the caller has it."""
    OTHER = "other"
    """Devices without memory, and what nobody knows."""


@dataclass(frozen=True)
class Lane:
    """A device, and where what lies on it is drawn."""

    name: str
    group: LaneGroup
    colour: int
    """Which of the colours of its group."""
    label: str
    """What it is called in a legend."""


@dataclass(frozen=True)
class Line:
    """A line of the file, from 1; `label` is empty for one that nobody wrote."""

    number: int
    label: str
    text: str
    cell: int | None = None


@dataclass(frozen=True)
class Node:
    """A value at the line that gives it its name."""

    id: int
    name: str
    line: int
    lane: int
    kind: str
    function: str
    inputs: tuple[int, ...]
    story: str


@dataclass(frozen=True)
class Measure:
    """What a run did at a line: how often, how much, how long."""

    line: int
    op: str
    kind: str
    origin: str
    target: str
    count: int
    bytes: int
    host_us: float
    device_us: float | None

    @property
    def micros(self) -> float:
        """The time that it cost whoever waited."""
        return max(self.host_us, self.device_us or 0.0)


@dataclass(frozen=True)
class Arrow:
    """A move from one lane to another."""

    id: int
    line: int
    what: str
    method: str
    origin: int
    target: int
    source: int | None
    result: int | None
    since: int | None
    """The line that put it where it was."""
    is_discarded: bool
    measures: tuple[int, ...] = ()
    """What was measured of it, by the number among the measures of the run."""
    shared_by: tuple[int, ...] = ()
    """The arrows of the line that these measures do not distinguish, this one among them."""
    micros: float = 0.0
    """The time that they come to."""
    amount: str = ""
    """What they come to, as people read it."""


@dataclass(frozen=True)
class Word:
    """A name in the text, and the lanes on which its value lies; columns from 0."""

    line: int
    start: int
    end: int
    lanes: tuple[int, ...]


@dataclass(frozen=True)
class View:
    """What there is to see on one machine."""

    machine: str
    nodes: tuple[Node, ...]
    arrows: tuple[Arrow, ...]
    words: tuple[Word, ...]

    def lanes_by_line(self) -> dict[int, set[int]]:
        """The lanes that each line touches."""
        found: dict[int, set[int]] = {}
        for word in self.words:
            found.setdefault(word.line, set()).update(word.lanes)
        for node in self.nodes:
            found.setdefault(node.line, set()).add(node.lane)
        for arrow in self.arrows:
            found.setdefault(arrow.line, set()).update((arrow.origin, arrow.target))
        return found


@dataclass(frozen=True)
class Place:
    """Another place that explains a finding; `line` is None for one in another file."""

    line: int | None
    label: str
    message: str


@dataclass(frozen=True)
class Found:
    """A finding, at the line where it begins; each part is (line, start, end)."""

    line: int
    code: str
    name: str
    severity: str
    message: str
    machine: str
    parts: tuple[tuple[int, int, int], ...]
    related: tuple[Place, ...]
    fix: str


@dataclass(frozen=True)
class RecordedRun:
    """The run that was recorded."""

    command: str
    seconds: float
    steps: int
    measures: tuple[Measure, ...]
    is_complete: bool


@dataclass(frozen=True)
class Map:
    """One file."""

    path: str
    lines: tuple[Line, ...]
    lanes: tuple[Lane, ...]
    views: tuple[View, ...]
    findings: tuple[Found, ...]
    run: RecordedRun | None = None

    def content(self) -> dict[str, Any]:
        """What the script of a page reads; without the text."""
        content = asdict(self, dict_factory=_plain)
        content["lines"] = [[one.number, one.label, one.cell] for one in self.lines]
        content["views"] = [
            {key: value for key, value in view.items() if key != "words"}
            for view in content["views"]
        ]
        return content


def _plain(items: list[tuple[str, Any]]) -> dict[str, Any]:
    return {key: value.value if isinstance(value, Enum) else value for key, value in items}

"""From what was charted and found to what a page shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from devicelint.domain.devices import META, Device, DeviceOf, Known, Opaque, Unsure
from devicelint.finding import Finding, Span
from devicelint.interpreter.torch.reveal import HOST_MEMORY
from devicelint.map.model import (
    Arrow,
    Found,
    Lane,
    LaneGroup,
    Line,
    Map,
    Node,
    Place,
    RecordedRun,
    View,
    Word,
)
from devicelint.map.overlay import with_measures
from devicelint.text.source import SourceFile
from devicelint.views.graph import Chart, MoveEdge, NodeKind, Sight, Value

NOWHERE_KNOWN = "unknown"
CALLERS = "the caller's device"


def draw(
    source: SourceFile, chart: Chart, findings: Sequence[Finding], run: RecordedRun | None = None
) -> Map:
    """What a page shows of a file, with a recorded run laid over it where there is one."""
    lanes = _Lanes(chart)
    drawing = _Drawing(source, lanes)
    views = [drawing.view(sight) for sight in chart.sights]
    if run is not None:
        views = [with_measures(view, lanes.all, run) for view in views]
    return Map(
        source.path,
        tuple(_lines(source)),
        lanes.all,
        tuple(views),
        tuple(drawing.found(one) for one in findings),
        run,
    )


class _Lanes:
    """One lane for each device that occurs, the host's first."""

    def __init__(self, chart: Chart) -> None:
        named = {name_of(device): device for device in _devices(chart)}
        ordered = sorted(named.items(), key=lambda pair: (_ORDER[group_of(pair[1])], pair[0]))
        counts: dict[LaneGroup, int] = {}
        lanes = []
        for name, device in ordered:
            group = group_of(device)
            colour = counts.get(group, 0)
            counts[group] = colour + 1
            lanes.append(Lane(name, group, colour, _label(name, group)))
        self.all = tuple(lanes)
        self._indices = {lane.name: index for index, lane in enumerate(lanes)}

    def __getitem__(self, device: Device | None) -> int:
        return self._indices[name_of(device)]


_ORDER = {group: number for number, group in enumerate(LaneGroup)}


def _devices(chart: Chart) -> Iterator[Device | None]:
    for sight in chart.sights:
        for value in sight.values:
            yield value.device
        for move in sight.moves:
            yield from (move.origin, move.target)
        for read in sight.reads:
            yield from read.devices


def name_of(device: Device | None) -> str:
    """What the lane of a device is called."""
    if device is None or isinstance(device, Unsure):
        return NOWHERE_KNOWN
    return CALLERS if isinstance(device, DeviceOf) else str(device)


def group_of(device: Device | None) -> LaneGroup:
    """Which kind of place a device is."""
    match device:
        case Opaque():
            return LaneGroup.CHOICE
        case DeviceOf():
            return LaneGroup.CALLER
        case Known(kind) if device == HOST_MEMORY or kind == "cpu":
            return LaneGroup.HOST if device == HOST_MEMORY else LaneGroup.CPU
        case Known() if device != META:
            return LaneGroup.ACCELERATOR
        case _:
            return LaneGroup.OTHER


def _label(name: str, group: LaneGroup) -> str:
    return "host (numbers, arrays)" if group is LaneGroup.HOST else name


def _lines(source: SourceFile) -> Iterator[Line]:
    last = source.position(len(source.text))
    for number in range(1, last.line + (last.column > 0)):
        label = source.label(number)
        if label is not None:
            cell = source.location_of_line(number, 0).cell
            yield Line(number, label, source.line_text(number), cell)


class _Drawing:
    def __init__(self, source: SourceFile, lanes: _Lanes) -> None:
        self._source = source
        self._lanes = lanes

    def view(self, sight: Sight) -> View:
        """One machine."""
        return View(
            sight.machine,
            tuple(self._node(number, value) for number, value in enumerate(sight.values)),
            tuple(self._arrow(number, move) for number, move in enumerate(sight.moves)),
            tuple(self._words(sight)),
        )

    def _node(self, number: int, value: Value) -> Node:
        return Node(
            number,
            value.name,
            self._line(value.span),
            self._lanes[value.device],
            value.kind.value,
            value.function,
            value.inputs,
            self._story(value),
        )

    def _story(self, value: Value) -> str:
        if not value.story or value.since is None:
            return value.story.removesuffix(" here").removesuffix(",")
        place = f"on line {self._source.location(value.since.start).line_text}"
        if self._line(value.since) == self._line(value.span):
            place = "here"
        head, here, tail = value.story.partition("here")
        return f"{head}{place}{tail}" if here else value.story

    def _arrow(self, number: int, move: MoveEdge) -> Arrow:
        return Arrow(
            number,
            self._line(move.span),
            move.what,
            move.method,
            self._lanes[move.origin],
            self._lanes[move.target],
            move.source,
            move.result,
            None if move.since is None else self._line(move.since),
            move.is_discarded,
        )

    def _words(self, sight: Sight) -> Iterator[Word]:
        """The names that have a place; of two, one in the other, the outer one."""
        lanes: dict[Span, list[int]] = {}
        for value in (one for one in sight.values if one.kind is not NodeKind.UNNAMED):
            lanes.setdefault(value.span, []).append(self._lanes[value.device])
        for read in sight.reads:
            lanes.setdefault(read.span, []).extend(self._lanes[one] for one in read.devices)
        end = 0
        for span, found in sorted(lanes.items(), key=lambda pair: (pair[0].start, -pair[0].end)):
            line, column = self._source.position(span.start)
            length = span.end - span.start
            if span.start >= end and column + length <= len(self._source.line_text(line)):
                end = span.end
                yield Word(line, column, column + length, tuple(dict.fromkeys(found)))

    def found(self, finding: Finding) -> Found:
        """A finding, with its places by line."""
        here = [
            Place(self._line(one.span), self._label(one.span), one.message)
            for one in finding.related
        ]
        there = [
            Place(None, f"{PurePath(one.path).name}:{one.location}", one.message)
            for one in finding.elsewhere
        ]
        fix = finding.fix
        return Found(
            self._line(finding.span),
            finding.code,
            finding.name,
            finding.severity.value,
            finding.message,
            finding.machine,
            tuple(self._parts(finding.span)),
            (*here, *there),
            "" if fix is None else f"{fix.message} ({fix.safety.value})",
        )

    def _parts(self, span: Span) -> Iterator[tuple[int, int, int]]:
        """A span line by line."""
        first, last = self._source.position(span.start), self._source.position(span.end)
        for line in range(first.line, last.line + 1):
            start = first.column if line == first.line else 0
            end = last.column if line == last.line else len(self._source.line_text(line))
            if end > start:
                yield line, start, end

    def _line(self, span: Span) -> int:
        return self._source.position(span.start).line

    def _label(self, span: Span) -> str:
        return f"line {self._source.location(span.start).line_text}"

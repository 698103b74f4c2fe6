"""The code frame: the lines that a finding is about, with marks under the places it speaks of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from devicelint.finding import Span
from devicelint.output.paint import Paint
from devicelint.output.visible import ELLIPSIS, Strip, printable, strip
from devicelint.text.source import SourceFile

LINES_OF_A_LONG_SPAN = 4
"""A span of more lines than this shows its first two and its last."""


@dataclass(frozen=True)
class Label:
    """A place to mark, with what to say about it; the marks of a primary one stand out."""

    span: Span
    message: str
    mark: str
    style: str


@dataclass(frozen=True)
class Stroke:
    """The part of a label that lies on one line."""

    line: int
    start: int
    end: int
    label: Label


def frame(source: SourceFile, labels: Sequence[Label], paint: Paint, width: int) -> Iterator[str]:
    """Yield the lines of the frame: numbers, code and marks, each needed line once.

    Code that is wider than the `width` of the frame is shown without what is far from its marks.
    """
    strokes: dict[int, list[Stroke]] = defaultdict(list)
    for label in labels:
        for stroke in _strokes(source, label):
            strokes[stroke.line].append(stroke)
    gutter = max(len(source.label(line) or "") for line in strokes)
    yield _margin("", gutter, paint)
    for line in _with_gaps(sorted(strokes)):
        number = source.label(line) if line is not None else None
        if line is None or number is None:
            yield paint(ELLIPSIS.rjust(gutter) + " |", "blue")
            continue
        columns = [(stroke.start, stroke.end) for stroke in strokes[line]]
        shown = strip(source.line_text(line), columns, width - gutter - 3)
        yield f"{_margin(number, gutter, paint)} {shown.text}".rstrip()
        for row in _rows(strokes[line]):
            yield f"{_margin('', gutter, paint)} {_marks(shown, row, paint)}"


def _strokes(source: SourceFile, label: Label) -> Iterator[Stroke]:
    first = source.position(label.span.start)
    last = source.position(label.span.end)
    if last.column == 0 and last.line > first.line:
        lines = list(range(first.line, last.line))
    else:
        lines = list(range(first.line, last.line + 1))
    if len(lines) > LINES_OF_A_LONG_SPAN:
        lines = [*lines[:2], lines[-1]]
    is_blank = not source.text[label.span.start : label.span.end].strip()
    for line in lines:
        text = source.line_text(line)
        indent = len(text) - len(text.lstrip())
        start = first.column if line == first.line else indent
        end = last.column if line == last.line else len(text.rstrip())
        if start < end or len(lines) == 1 or (line == first.line and is_blank):
            # What there is to say is said once, on the last line.
            said = label if line == lines[-1] else replace(label, message="")
            yield Stroke(line, min(start, len(text)), min(end, len(text)), said)


def _with_gaps(lines: Sequence[int]) -> Iterator[int | None]:
    """Yield the lines, None for lines left out; a single line between two is not worth a gap."""
    previous = lines[0]
    for line in lines:
        if line - previous == 2:
            yield previous + 1
        elif line - previous > 2:
            yield None
        yield line
        previous = line


def _margin(number: str, gutter: int, paint: Paint) -> str:
    return paint(number.rjust(gutter) + " |", "blue")


def _rows(strokes: Iterable[Stroke]) -> Iterator[list[Stroke]]:
    """Share a row among marks that leave each other, and the one message of the row, room."""
    row: list[Stroke] = []
    for stroke in sorted(strokes, key=lambda stroke: (stroke.start, stroke.end)):
        if row and (row[-1].label.message or row[-1].end >= stroke.start):
            yield row
            row = []
        row.append(stroke)
    if row:
        yield row


def _marks(shown: Strip, row: Sequence[Stroke], paint: Paint) -> str:
    parts = []
    cell = 0
    for stroke in row:
        start = shown.cells[stroke.start]
        length = max(1, shown.cells[stroke.end] - start)
        message = " " + printable(stroke.label.message) if stroke.label.message else ""
        parts.append(" " * (start - cell))
        parts.append(paint(stroke.label.mark * length + message, stroke.label.style))
        cell = start + length
    return "".join(parts)

"""A file with the devices of its values in the right margin."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from devicelint.output.paint import Paint, plain
from devicelint.output.visible import cell_width, printable, strip

if TYPE_CHECKING:
    from devicelint.text.source import SourceFile
    from devicelint.views.trace import Trace

DEFAULT_WIDTH = 120

WIDEST_MARGIN = 80
"""Notes stand in one column, at most here; beside a longer line they follow it."""

_DEVICE = re.compile(
    r"(?<![\w.])(?:(?P<cpu>cpu)|(?P<accelerator>cuda|mps|xpu|hpu|npu|mtia|meta)(?::(?P<index>\d+))?)(?![\w.])"
)
_BY_INDEX = ("green", "magenta", "cyan", "red")
_OTHER = "blue"


def render(
    source: SourceFile, trace: Trace, paint: Paint = plain, width: int = DEFAULT_WIDTH
) -> str:
    """Return the numbered lines of a file, each with what is known about it in the margin."""
    notes = dict(trace.lines)
    lines = [_visible(line) for line in _lines(source)]
    noted = [cell_width(lines[line - 1]) for line in notes if line <= len(lines)]
    margin = max((width for width in noted if width <= WIDEST_MARGIN), default=0)
    labels = [source.label(line) for line in range(1, len(lines) + 1)]
    gutter = max((len(label) for label in labels if label), default=1)
    rows: list[str] = []
    for number, (label, code) in enumerate(zip(labels, lines, strict=True), start=1):
        if label is None:
            rows += [""] * (number < len(lines))
            continue
        column = max(margin, cell_width(code))
        room = width - gutter - column - len("    | ")
        packed = _packed([printable(note) for note in notes.get(number, ())], room)
        start = f"{paint(label.rjust(gutter), 'blue')}  {code}"
        rows += _beside(start, gutter + 2 + column, column - cell_width(code), packed, paint)
    return "".join(f"{row}\n" for row in rows)


def _beside(
    start: str, column: int, space: int, packed: Sequence[Sequence[str]], paint: Paint
) -> Iterator[str]:
    """Yield a line of code with its first row of notes, and the other rows below that."""
    if not packed:
        yield start.rstrip()
    for index, row in enumerate(packed):
        before = " " * column if index else start + " " * space
        yield before + _margin(row, paint)


def _packed(notes: Sequence[str], width: int) -> list[list[str]]:
    """Share out the notes of a line to rows, each with as many as there is room for."""
    rows: list[list[str]] = []
    for note in notes:
        if rows and cell_width(", ".join([*rows[-1], note])) <= width:
            rows[-1].append(note)
        else:
            rows.append([note])
    return rows


def _margin(notes: Sequence[str], paint: Paint) -> str:
    text = paint(", ", "dim").join(_note(note, paint) for note in notes)
    return f"  {paint('|', 'dim')} {text}"


def _lines(source: SourceFile) -> Iterator[str]:
    last = source.position(len(source.text))
    for line in range(1, last.line + (last.column > 0)):
        yield source.line_text(line)


def _visible(line: str) -> str:
    return strip(line, (), width=max(1, 8 * len(line))).text


def _note(note: str, paint: Paint) -> str:
    """Colour the devices of a note such as "x: cpu -> cuda:0", each device always the same."""
    name, separator, devices = note.partition(": ")
    if not separator:
        return note
    if not _DEVICE.search(devices):
        return f"{name}: {paint(devices, _OTHER)}"
    return f"{name}: " + _DEVICE.sub(lambda match: paint(match[0], _style(match)), devices)


def _style(device: re.Match[str]) -> str:
    if device["cpu"]:
        return "yellow"
    return _BY_INDEX[int(device["index"] or 0) % len(_BY_INDEX)]

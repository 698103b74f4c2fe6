"""What is open in the editor: one version of a file or of a notebook, as it is written there."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from lsprotocol.types import Location, Position

from devicelint.finding import Span
from devicelint.server.lines import Lines
from devicelint.text.source import SourceFile


@dataclass(frozen=True, eq=False)
class Part:
    """A text that the editor holds: all of a file, or one cell of a notebook."""

    uri: str
    version: int | None
    """None for what is not open."""
    lines: Lines

    @property
    def text(self) -> str:
        """What it says."""
        return self.lines.text


class OpenDocument(Protocol):
    """One version of what is open; a new one takes its place with every change."""

    @property
    def uri(self) -> str:
        """What the editor calls it."""

    @property
    def path(self) -> str:
        """Where it lies, or would were it a file."""

    @property
    def source(self) -> SourceFile:
        """What is checked; raises InputError where that is not what its name says."""

    def location(self, span: Span) -> Location:
        """Where the editor shows some characters of the source."""

    def offset(self, uri: str, position: Position) -> int | None:
        """The character of the source at a position of a file or cell; None where it has none."""

    def parts(self) -> Iterator[Part]:
        """The texts that the editor holds."""

    def part_of(self, cell: int | None) -> Part:
        """The text in which a line counts: that of a cell, or of the file."""

    def texts(self, source: SourceFile) -> Mapping[str, str]:
        """What the parts say once the source is this one, by their URIs."""


@dataclass(frozen=True, eq=False)
class OpenFile:
    """A file."""

    uri: str
    path: str
    part: Part

    @cached_property
    def source(self) -> SourceFile:
        """What is checked."""
        return SourceFile.from_text(self.part.text, self.path)

    def location(self, span: Span) -> Location:
        """Where the editor shows some characters of the source."""
        return Location(self.uri, self.part.lines.range(span))

    def offset(self, uri: str, position: Position) -> int | None:  # noqa: ARG002 - one of many cells
        """The character at a position."""
        return self.part.lines.offset(position)

    def parts(self) -> Iterator[Part]:
        """The one text."""
        yield self.part

    def part_of(self, cell: int | None) -> Part:  # noqa: ARG002 - one of many cells
        """The one text."""
        return self.part

    def texts(self, source: SourceFile) -> Mapping[str, str]:
        """What the file says once the source is this one."""
        return {self.uri: source.text}


@dataclass(frozen=True, eq=False)
class OpenNotebook:
    """A notebook: the editor holds its cells one by one."""

    uri: str
    path: str
    cells: tuple[Part | None, ...]
    """None for a cell that is no code, or in another language."""

    @cached_property
    def source(self) -> SourceFile:
        """What is checked: the notebook as it would be written."""
        cells = [_written(cell) for cell in self.cells]
        document = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        return SourceFile.from_text(json.dumps(document), self.path)

    def location(self, span: Span) -> Location:
        """The cell in which a span begins, and the range in it."""
        start = self.source.location(span.start)
        cell = self.part_of(start.cell)
        end = self.source.location(span.end)
        begin = cell.lines.offset_of(start.line, start.column)
        last = len(cell.text)
        if end.cell == start.cell:
            last = cell.lines.offset_of(end.line, end.column)
        return Location(cell.uri, cell.lines.range(Span(begin, max(begin, last))))

    def offset(self, uri: str, position: Position) -> int | None:
        """The character at a position of a cell."""
        for number, cell in enumerate(self.cells, start=1):
            if cell is not None and cell.uri == uri:
                line, column = cell.lines.place(cell.lines.offset(position))
                whole = self.source.line_of_cell(number, line)
                return None if whole is None else self.source.offset(whole, column)
        return None

    def parts(self) -> Iterator[Part]:
        """The cells that are code."""
        yield from filter(None, self.cells)

    def texts(self, source: SourceFile) -> Mapping[str, str]:
        """What the cells say once the source is this one."""
        cells = source.cells() or {}
        return {self.part_of(number).uri: text for number, text in cells.items()}

    def part_of(self, cell: int | None) -> Part:
        """A cell; the first one for what concerns them all."""
        part = None if cell is None else self.cells[cell - 1]
        return part or next(self.parts())


def _written(cell: Part | None) -> dict[str, object]:
    if cell is None:
        return {"cell_type": "markdown", "metadata": {}, "source": ""}
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": cell.text,
    }

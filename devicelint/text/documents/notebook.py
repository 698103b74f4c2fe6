"""Jupyter notebooks: the code cells as one program, and edits back into the JSON, in place."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from devicelint.finding import Edit, InputError, Location
from devicelint.text.documents import magics, names
from devicelint.text.documents.cells import CodeCell, WrittenNotebook, read_written
from devicelint.text.documents.document import Document, Unwritable
from devicelint.text.documents.magics import Reading, read_cell
from devicelint.text.edits import apply, narrowed
from devicelint.text.screen import names_tensors

_LINE_END = re.compile(r"\r\n|\r|\n")
_MASK_AT_TOP = re.compile(r"^0 *$", re.MULTILINE)


@dataclass(frozen=True)
class Cell:
    """A code cell that is part of the program."""

    written: CodeCell
    text: str
    reading: Reading

    @property
    def final_text(self) -> str:
        """What the cell says: without the blank lines that edits leave at its end."""
        original = self.written.source.text
        if self.text == original:
            return original
        ends = len(original) - len(original.rstrip("\r\n"))
        return self.text.rstrip("\r\n") + original[len(original) - ends :]


@dataclass(frozen=True)
class Separator:
    """The line after a cell: as it is shown, and what it says to who parses it."""

    text: str
    code: str


@dataclass(frozen=True)
class Notebook(Document):
    """The cells that are Python and can be parsed; all others are passed over."""

    raw: str
    cells: tuple[Cell, ...]
    separators: tuple[Separator, ...]
    """One after each cell."""
    problems: tuple[InputError, ...] = ()
    needs_accelerator: bool = False
    """Whether its metadata name the kind of machine that it is to run on."""

    @property
    def notes(self) -> tuple[InputError, ...]:
        """The cells that are no Python, with the reason."""
        return self.problems

    @cached_property
    def text(self) -> str:
        """The cells, with a line after each."""
        return _joined([cell.text for cell in self.cells], [sep.text for sep in self.separators])

    @cached_property
    def code(self) -> str:
        """The same with everything masked that is not Python."""
        codes = [cell.reading.code for cell in self.cells]
        return _joined(codes, [sep.code for sep in self.separators])

    @property
    def opening(self) -> str:
        """The first cell; a magic at its top is no statement."""
        return _MASK_AT_TOP.sub("", self.cells[0].reading.code) if self.cells else ""

    @property
    def programs(self) -> tuple[str, ...]:
        """All cells are one program."""
        return (self.code,) if self.cells else ()

    def location(self, line: int, column: int) -> Location:
        """The cell, and the line in it; what stands after a cell is the end of it."""
        if not self.cells:
            return Location(line, column)
        index = max(bisect_right(self._first_lines, line) - 1, 0)
        below = line - self._first_lines[index]
        return Location(below + 1, column, self.cells[index].written.number)

    def label(self, line: int) -> str | None:
        """As in `3:12`, the twelfth line of the third cell; nothing between cells."""
        if line in self._separating_lines:
            return None
        location = self.location(line, 0)
        return f"{location.cell}:{location.line}"

    def line(self, cell: int, line: int) -> int | None:
        """The line of `text` that a line of a cell is; None where there is none."""
        for each, first in zip(self.cells, self._first_lines, strict=True):
            if each.written.number == cell and 1 <= line <= _count_lines(each.text):
                return first + line - 1
        return None

    def cell_texts(self) -> dict[int, str]:
        """What each cell says, by its number."""
        return {cell.written.number: cell.final_text for cell in self.cells}

    def place(self, offset: int) -> int:
        """Where a place of the cells lies in the JSON, which has not changed since it was read."""
        for cell, separator in zip(self.cells, self.separators, strict=True):
            if offset <= len(cell.text):
                return cell.written.span.start + cell.written.source.place(offset)
            # What stands after a cell is the end of it.
            offset -= len(cell.text) + len(separator.text) + 2
            if offset < 0:
                return cell.written.span.start + cell.written.source.place(len(cell.text))
        return 0

    def with_text(self, text: str) -> Notebook:
        """The notebook with other code in its cells."""
        texts = _split(text, [separator.text for separator in self.separators])
        cells = tuple(
            cell if cell.text == new else _changed(cell, new)
            for cell, new in zip(self.cells, texts, strict=True)
        )
        return replace(self, cells=cells)

    def rewritten(self, edits: Sequence[Edit]) -> tuple[Edit, ...]:
        """What edits of the cells are in the JSON."""
        changed = self.with_text(apply(self.text, edits))
        return tuple(narrowed(self.raw, edit) for edit in changed.changes())

    def changes(self) -> Iterator[Edit]:
        """The sources of the changed cells, and nothing else."""
        for cell in self.cells:
            source = cell.written.source
            if cell.final_text != source.text:
                yield Edit(cell.written.span, source.rewritten(cell.final_text))

    def to_text(self) -> str:
        """The JSON with the changes made."""
        return apply(self.raw, tuple(self.changes()))

    @cached_property
    def _separating_lines(self) -> frozenset[int]:
        last = len(_LINE_END.findall(self.text)) + 1
        return frozenset((*(first - 1 for first in self._first_lines[1:]), last))

    @cached_property
    def _first_lines(self) -> tuple[int, ...]:
        """The line of `text` on which each cell starts."""
        ends = [end.end() for end in _LINE_END.finditer(self.text)]
        starts, position = [], 0
        for index, cell in enumerate(self.cells):
            starts.append(bisect_right(ends, position) + 1)
            position += len(cell.text) + len(self.separators[index].text) + 2
        return tuple(starts)


def read_notebook(raw: str, path: str) -> Notebook:
    """The notebook in a JSON text; raises InputError for what is none."""
    written = read_written(raw, path)
    if not any(names_tensors(cell.source.text) for cell in written.cells):
        return Notebook(raw, (), ())
    return _Assembly(raw, path, written).assembled()


class _Assembly:
    """Puts cells together, one after the other."""

    def __init__(self, raw: str, path: str, written: WrittenNotebook) -> None:
        self.raw = raw
        self.path = path
        self.written = written
        self.mark = "# %% cell"
        while any(self.mark in cell.source.text for cell in written.cells):
            self.mark = self.mark.replace("%", "%%", 1)
        self.cells: list[Cell] = []
        self.separators: list[Separator] = []
        self.notes: list[InputError] = []
        self.known: set[str] = set()
        self.unsure: dict[str, None] = {}
        """Names that what is passed over may have changed since the last cell."""

    def assembled(self) -> Notebook:
        for cell in self.written.cells:
            self._add(cell)
        self._end()
        return Notebook(
            self.raw,
            tuple(self.cells),
            tuple(self.separators),
            tuple(self.notes),
            self.written.needs_accelerator,
        )

    def _add(self, cell: CodeCell) -> None:
        text = cell.source.text
        if cell.is_foreign or magics.is_foreign(text) or not text.strip():
            return
        if cell.may_raise or magics.is_of_unknown_kind(text):
            self._forget(text)
            return
        reading = read_cell(text)
        if reading.error is not None:
            line, column, message = reading.error
            self.notes.append(
                InputError(self.path, line, column, f"cell is not checked: {message}", cell.number)
            )
            self._forget(text)
            return
        self._include(Cell(cell, text, reading))

    def _include(self, cell: Cell) -> None:
        self._end()
        self.cells.append(cell)
        bound = names.assigned(cell.reading.code)
        self.known |= bound
        if cell.reading.is_timed:
            self.unsure.update(dict.fromkeys(sorted(bound)))
        for hidden in cell.reading.kept:
            if hidden.startswith("%") and not hidden.startswith("%%"):
                self._forget(hidden)

    def _end(self) -> None:
        """Put a separator after the last cell; nothing is to be forgotten before the first."""
        if self.cells:
            code = names.forgetting(self.unsure)
            text = f"{self.mark} {self.cells[-1].written.number} ends ".ljust(len(code), "-")
            self.separators.append(Separator(text, code.ljust(len(text))))
        self.unsure = {}

    def _forget(self, text: str) -> None:
        self.unsure.update(dict.fromkeys(names.maybe_changed(text, self.known)))


def _changed(cell: Cell, text: str) -> Cell:
    reading = read_cell(text)
    if reading.error is not None or reading.kept != cell.reading.kept or reading.is_timed:
        raise Unwritable(f"a magic of cell {cell.written.number} would change")
    return replace(cell, text=text, reading=reading)


def _joined(texts: Sequence[str], separators: Sequence[str]) -> str:
    return "\n".join(part for pair in zip(texts, separators, strict=True) for part in pair)


def _split(text: str, separators: Sequence[str]) -> Iterator[str]:
    """The texts before the separators, each of which is a line of its own."""
    text += "\n"
    for separator in separators:
        before, found, text = text.partition(f"\n{separator}\n")
        if not found:
            raise Unwritable("two cells would become one")
        yield before
    if text:
        raise Unwritable("there would be code outside of the cells")


def _count_lines(text: str) -> int:
    return len(_LINE_END.findall(text)) + 1

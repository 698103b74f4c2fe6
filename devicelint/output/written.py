"""Where places lie in a file as it is written: of a notebook, in its JSON and not in its cells.

That is what programs need which show a file, or change it, and know nothing of notebooks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from devicelint.finding import Edit, Span
from devicelint.text.documents import Unwritable
from devicelint.text.source import SourceFile

Unit = Callable[[str], int]
"""How many columns a text takes."""


def utf16(text: str) -> int:
    """How many code units of UTF-16 a text has."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def utf8(text: str) -> int:
    """How many bytes a text has as UTF-8."""
    return len(text.encode("utf-8", "surrogatepass"))


class Region(NamedTuple):
    """A part of a file; lines and columns count from 1, and the end is not part of it."""

    start_line: int
    start_column: int
    end_line: int
    end_column: int


class Written:
    """A file as it lies on the disk; `file` is its text, which nothing is left out of."""

    def __init__(self, source: SourceFile) -> None:
        """Take what a fix made of a notebook for what lies there."""
        if source.document is None:
            self.source = self.file = source
            return
        text = source.document.to_text()
        self.source = SourceFile.from_text(text, source.path)
        self.file = SourceFile(text, source.path)
        # A fix may leave blank lines at the end of a cell, which are not written.
        self._is_same = self.source.text == source.text

    def span(self, span: Span) -> Span:
        """Where a part of the Python lies in the file: at its beginning, where nobody knows."""
        document = self.source.document
        if document is None:
            return span
        if not self._is_same:
            return Span(0, 0)
        return Span(document.place(span.start), document.place(span.end))

    def region(self, span: Span, unit: Unit = len) -> Region:
        """Where a part of the file lies, with columns in a unit of one's own."""
        start, end = self.file.position(span.start), self.file.position(span.end)
        return Region(
            start.line,
            1 + unit(self.file.line_text(start.line)[: start.column]),
            end.line,
            1 + unit(self.file.line_text(end.line)[: end.column]),
        )

    def edits(self, edits: Sequence[Edit]) -> tuple[Edit, ...]:
        """What edits of the Python are in the file; nothing where they cannot be written."""
        document = self.source.document
        if document is None:
            return tuple(sorted(edits, key=lambda edit: edit.span))
        if not self._is_same:
            return ()
        try:
            return document.rewritten(edits)
        except Unwritable:
            return ()

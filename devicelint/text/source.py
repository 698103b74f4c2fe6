"""The text of one Python file: its bytes, its lines, and what its comments ask of devicelint."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from devicelint.finding import InputError, Location, Span
from devicelint.text.comments import CommentLayout, layout
from devicelint.text.documents import Document, Unwritable, is_document, read_document
from devicelint.text.encoding import Encoding, SourceError, decode, decode_utf8
from devicelint.text.noqa import (
    Suppression,
    mentions_ours,
    mentions_suppression,
    skips_file,
    suppressions,
)

__all__ = ["Position", "SourceError", "SourceFile"]

_LINE_END = re.compile(r"\r\n|\r|\n")


class Position(NamedTuple):
    """A place in a text; both count characters, not bytes."""

    line: int
    """From 1."""
    column: int
    """From 0."""


@dataclass(frozen=True, repr=False)
class SourceFile:
    """One file's text exactly as its author wrote it, line ends included.

    `SourceFile.from_bytes(data, path).to_bytes()` is `data`, whatever its encoding.  Of a notebook,
    the text is that of its cells.
    """

    text: str
    path: str = "<string>"
    encoding: Encoding = Encoding()
    obeys_noqa: bool = field(default=True, kw_only=True)
    """False under a tool that reads `# noqa` itself."""
    _inexact: bytes | None = field(default=None, kw_only=True)
    """The file's bytes, where its encoding has several ways to write the same text."""
    document: Document | None = field(default=None, kw_only=True)
    """The file of which the text is the Python, where that is not all of it."""

    @classmethod
    def from_bytes(cls, data: bytes, path: str) -> SourceFile:
        """Decodes a file as Python does; raises InputError where Python could not."""
        if is_document(path):
            whole, mark = decode_utf8(data, path)
            document = read_document(whole, path)
            return cls(document.text, path, Encoding(mark=mark), document=document)
        text, encoding = decode(data, path)
        is_exact = encoding.name == "utf-8" or encoding.gives_back(text, data)
        return cls(text, path, encoding, _inexact=None if is_exact else data)

    @classmethod
    def from_text(cls, text: str, path: str = "<string>") -> SourceFile:
        """Text that comes from elsewhere than a file, to be written as UTF-8."""
        document = read_document(text, path) if is_document(path) else None
        return cls(document.text if document else text, path, document=document)

    def __repr__(self) -> str:
        return f"SourceFile({self.path!r}, {len(self._line_starts)} lines, {self.encoding})"

    def to_bytes(self) -> bytes:
        """The bytes of the file; raises SourceError for text that its encoding cannot express."""
        if self._inexact is not None:
            return self._inexact
        try:
            return self.encoding.encode(self.document.to_text() if self.document else self.text)
        except UnicodeEncodeError as error:
            culprit = self.text[error.start]
            message = f"the encoding {self.encoding.name} cannot express {culprit!a}"
            raise SourceError(self.path, *self.position(error.start), message) from None

    def with_text(self, text: str) -> SourceFile:
        """The file with other text; raises SourceError where that text cannot be written."""
        if text == self.text:
            return self
        if self._inexact is not None:
            message = (
                f"cannot be changed: its encoding {self.encoding.name} has several ways to write"
                " the same text, and would not give back the rest as it was"
            )
            raise SourceError(self.path, 1, 0, message)
        try:
            document = self.document and self.document.with_text(text)
        except Unwritable as error:
            raise SourceError(self.path, 1, 0, str(error)) from None
        changed = replace(self, text=text, document=document)
        changed.to_bytes()
        return changed

    @cached_property
    def code(self) -> str:
        """The text with what is not Python masked by as many characters that are."""
        return self.document.code if self.document else self.text

    def programs(self) -> Iterator[SourceFile]:
        """What is parsed: the file itself, or each part with a namespace of its own.

        A place in one of them is the same place in the file.
        """
        if self.document is None:
            yield self
            return
        for code in self.document.programs:
            yield replace(self, text=code)

    def cells(self) -> dict[int, str] | None:
        """What each cell says, by its number; None for a file that has no cells."""
        return self.document.cell_texts() if self.document else None

    def line_of_cell(self, cell: int, line: int) -> int | None:
        """The line of the text that a line of a cell is; None where there is none."""
        return self.document.line(cell, line) if self.document else None

    @property
    def notes(self) -> tuple[InputError, ...]:
        """What of the file is passed over, and why."""
        return self.document.notes if self.document else ()

    @cached_property
    def newline(self) -> str:
        """How the file ends its lines, as the first one shows."""
        first = _LINE_END.search(self.text)
        return first[0] if first else "\n"

    @cached_property
    def _line_starts(self) -> tuple[int, ...]:
        return (0, *(end.end() for end in _LINE_END.finditer(self.text)))

    def position(self, offset: int) -> Position:
        """The line and column of the character at `offset`, or of the end of the text."""
        if not 0 <= offset <= len(self.text):
            raise ValueError(f"offset {offset} is outside of {self!r}")
        line = bisect_right(self._line_starts, offset)
        return Position(line, offset - self._line_starts[line - 1])

    @property
    def lines(self) -> int:
        """How many lines the text has; an empty one after the last newline counts."""
        return len(self._line_starts)

    def location(self, offset: int) -> Location:
        """What people call the place of the character at `offset`."""
        return self.location_of_line(*self.position(offset))

    def location_of_line(self, line: int, column: int) -> Location:
        """What people call a place of the text."""
        return self.document.location(line, column) if self.document else Location(line, column)

    def label(self, line: int) -> str | None:
        """What a line is called in a margin; None for one that nobody wrote."""
        return self.document.label(line) if self.document else str(line)

    def offset(self, line: int, column: int) -> int:
        """The offset of a position: of a character, of a line's end, or of the text's."""
        bounds = self._bounds(line)
        offset = bounds.start + column
        if column < 0 or offset > bounds.end or self.position(offset).line != line:
            raise ValueError(f"line {line} of {self!r} has no column {column}")
        return offset

    def line_text(self, line: int) -> str:
        """The text of a line, without its end."""
        bounds = self._bounds(line)
        return self.text[bounds.start : bounds.end].rstrip("\r\n")

    def _bounds(self, line: int) -> Span:
        """A line with its end."""
        if not 1 <= line <= len(self._line_starts):
            raise ValueError(f"{self!r} has no line {line}")
        is_last = line == len(self._line_starts)
        end = len(self.text) if is_last else self._line_starts[line]
        return Span(self._line_starts[line - 1], end)

    @cached_property
    def skipped(self) -> bool:
        """Whether a comment before the first statement says `# devicelint: skip-file`."""
        return skips_file(self.document.opening if self.document else self.text)

    def suppresses(self, span: Span, code: str, name: str) -> bool:
        """Whether a comment suppresses the rule `code`, called `name`, at `span`.

        Such a comment stands on the first or the last line of the span, or at the end of the
        statement (or of its head) where that goes on over several lines.
        """
        return bool(self._suppressions) and any(
            suppression.covers(code, name)
            for line in self.lines_that_speak_for(span)
            for suppression in self._suppressions.get(line, ())
        )

    def suppression_codes(self) -> Iterator[tuple[str, Span]]:
        """What `# devicelint: ignore[…]` comments name, and where, to be held against the rules."""
        for suppression in self.suppressions() if mentions_ours(self.text) else ():
            if suppression.known_to_us:
                yield from suppression.selectors or ()

    def suppressions_of(self, line: int) -> Sequence[Suppression]:
        """What the comments on a line suppress."""
        return self._suppressions.get(line, ())

    def suppressions(self) -> Iterator[Suppression]:
        """What comments suppress, in the order of the text."""
        for on_one_line in self._suppressions.values():
            yield from on_one_line

    @property
    def comments(self) -> tuple[Span, ...]:
        """Where the comments stand."""
        return self._layout.comments

    def lines_that_speak_for(self, span: Span) -> tuple[int, ...]:
        """The lines whose comments suppress what is found at `span`, the nearest first."""
        ends = (span.start, max(span.start, span.end - 1))
        statements = (self._end_of_statement(offset) for offset in ends)
        lines = (self.position(offset).line for offset in (*ends, *statements))
        return tuple(dict.fromkeys(lines))

    def _end_of_statement(self, offset: int) -> int:
        """The end of the logical line around `offset`, or `offset` where that is one line."""
        joined = self._layout.joined
        index = bisect_right(joined, offset, key=lambda line: line.start) - 1
        return joined[index].end if index >= 0 and offset <= joined[index].end else offset

    @cached_property
    def _layout(self) -> CommentLayout:
        return layout(self.code)

    @cached_property
    def _suppressions(self) -> dict[int, list[Suppression]]:
        by_line: dict[int, list[Suppression]] = {}
        if mentions_suppression(self.text):
            for suppression in suppressions(self.text, self._layout):
                if suppression.known_to_us or self.obeys_noqa:
                    line = self.position(suppression.comment.start).line
                    by_line.setdefault(line, []).append(suppression)
        return by_line

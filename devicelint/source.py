"""The text of one Python file: its bytes, its lines, and what its comments ask of devicelint."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from devicelint.comments import Layout, layout
from devicelint.decoding import Encoding, SourceError, decode
from devicelint.finding import Span
from devicelint.suppression import (
    Suppression,
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

    `SourceFile.from_bytes(data, path).to_bytes()` is `data`, whatever its encoding.
    """

    text: str
    path: str = "<string>"
    encoding: Encoding = Encoding()
    obeys_noqa: bool = field(default=True, kw_only=True)
    """False under a tool that reads `# noqa` itself."""
    _inexact: bytes | None = field(default=None, kw_only=True)
    """The file's bytes, where its encoding has several ways to write the same text."""

    @classmethod
    def from_bytes(cls, data: bytes, path: str) -> SourceFile:
        """Decodes a file as Python does; raises SourceError where Python could not."""
        text, encoding = decode(data, path)
        is_exact = encoding.name == "utf-8" or encoding.gives_back(text, data)
        return cls(text, path, encoding, _inexact=None if is_exact else data)

    @classmethod
    def from_text(cls, text: str, path: str = "<string>") -> SourceFile:
        """Text that comes from elsewhere than a file, to be written as UTF-8."""
        return cls(text, path)

    def __repr__(self) -> str:
        return f"SourceFile({self.path!r}, {len(self._line_starts)} lines, {self.encoding})"

    def to_bytes(self) -> bytes:
        """The bytes of the file; raises SourceError for text that its encoding cannot express."""
        if self._inexact is not None:
            return self._inexact
        try:
            return self.encoding.encode(self.text)
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
        changed = replace(self, text=text)
        changed.to_bytes()
        return changed

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
        return skips_file(self.text)

    def suppresses(self, span: Span, code: str, name: str) -> bool:
        """Whether a comment silences the rule `code`, called `name`, at `span`.

        Such a comment stands on the first or the last line of the span, or at the end of the
        statement (or of its head) where that goes on over several lines.
        """
        return bool(self._suppressions) and any(
            suppression.covers(code, name)
            for line in self._lines_that_speak_for(span)
            for suppression in self._suppressions.get(line, ())
        )

    def suppression_codes(self) -> Iterator[tuple[str, Span]]:
        """What `# devicelint: ignore[…]` comments name, and where, to be held against the rules."""
        for on_one_line in self._suppressions.values():
            for suppression in on_one_line:
                if suppression.known_to_us:
                    yield from suppression.selectors or ()

    def _lines_that_speak_for(self, span: Span) -> set[int]:
        ends = (span.start, max(span.start, span.end - 1))
        statements = (self._logical_end(offset) for offset in ends)
        return {self.position(offset).line for offset in (*ends, *statements)}

    def _logical_end(self, offset: int) -> int:
        """The end of the logical line around `offset`, or `offset` where that is one line."""
        joined = self._layout.joined
        index = bisect_right(joined, offset, key=lambda line: line.start) - 1
        return joined[index].end if index >= 0 and offset <= joined[index].end else offset

    @cached_property
    def _layout(self) -> Layout:
        return layout(self.text)

    @cached_property
    def _suppressions(self) -> dict[int, list[Suppression]]:
        by_line: dict[int, list[Suppression]] = {}
        if mentions_suppression(self.text):
            for suppression in suppressions(self.text, self._layout):
                if suppression.known_to_us or self.obeys_noqa:
                    line = self.position(suppression.comment.start).line
                    by_line.setdefault(line, []).append(suppression)
        return by_line

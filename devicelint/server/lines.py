"""Places of a text as editors count them: lines and code units, both from zero."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property

from lsprotocol.types import Position, PositionEncodingKind, Range

from devicelint.finding import Span

_LINE_END = re.compile(r"\r\n|\r|\n")
_BYTES_OF_A_UNIT = {
    PositionEncodingKind.Utf8.value: ("utf-8", 1),
    PositionEncodingKind.Utf16.value: ("utf-16-le", 2),
    PositionEncodingKind.Utf32.value: ("utf-32-le", 4),
}


class Lines:
    """A text, with the way between its characters and an editor's positions."""

    def __init__(self, text: str, encoding: str = PositionEncodingKind.Utf16.value) -> None:
        """Take a text, and how the editor counts: in code units of UTF-8, UTF-16 or UTF-32."""
        self.text = text
        self._codec, self._width = _BYTES_OF_A_UNIT[encoding]

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(end.end() for end in _LINE_END.finditer(self.text))]

    def position(self, offset: int) -> Position:
        """The position of a character, or of the end of the text."""
        line = bisect_right(self._starts, offset) - 1
        before = self.text[self._starts[line] : offset]
        return Position(line, self._units(before))

    def range(self, span: Span) -> Range:
        """The range of some characters."""
        return Range(self.position(span.start), self.position(span.end))

    def offset(self, position: Position) -> int:
        """The character at a position; what lies beyond a line, or the text, is its end."""
        if position.line >= len(self._starts):
            return len(self.text)
        start = self._starts[position.line]
        line = self.text[start : self.end_of_line(start)]
        return start + self._characters(line, position.character)

    def place(self, offset: int) -> tuple[int, int]:
        """The line of a character, from one, and its column, from zero."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1]

    def offset_of(self, line: int, column: int) -> int:
        """The character at a line, from one, and a column; the end of the line beyond it."""
        if line > len(self._starts):
            return len(self.text)
        start = self._starts[line - 1]
        return min(start + column, self.end_of_line(start))

    def end_of_line(self, offset: int) -> int:
        """The end of the line of a character."""
        end = _LINE_END.search(self.text, offset)
        return end.start() if end else len(self.text)

    def span(self, place: Range) -> Span:
        """The characters of a range, whichever of its ends comes first."""
        one, other = self.offset(place.start), self.offset(place.end)
        return Span(min(one, other), max(one, other))

    def changed(self, place: Range, content: str) -> str:
        """The text with other content in a range."""
        span = self.span(place)
        return self.text[: span.start] + content + self.text[span.end :]

    def _units(self, text: str) -> int:
        if text.isascii():
            return len(text)
        return len(text.encode(self._codec, "surrogatepass")) // self._width

    def _characters(self, line: str, units: int) -> int:
        """How many characters so many code units are; half a character is none."""
        if line.isascii() or units <= 0:
            return max(0, min(units, len(line)))
        counted = 0
        for index, character in enumerate(line):
            counted += self._units(character)
            if counted > units:
                return index
        return len(line)

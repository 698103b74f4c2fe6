"""Where the values of a JSON text stand in it, so that one can be replaced and no other touched."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

_BLANKS = re.compile(r"[ \t\n\r]*")
_UNIT = re.compile(r"\\u[0-9a-fA-F]{4}|\\.|[^\\]", re.DOTALL)
_CHARACTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|" + _UNIT.pattern, re.DOTALL
)
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_ESCAPED_BEYOND_ASCII = re.compile(r"(?<!\\)(?:\\\\)*\\u(?!00[0-7])[0-9a-fA-F]{4}")
_decode = json.JSONDecoder().raw_decode


class JsonPlaces:
    """Walks a text that is known to be JSON."""

    def __init__(self, text: str) -> None:
        self.text = text

    def members(self, start: int) -> Iterator[tuple[str, int]]:
        """The keys of the object at `start`, and where their values start."""
        position = self._skip(start + 1)
        while self.text[position] != "}":
            key, position = _decode(self.text, position)
            value = self._skip(self._skip(position) + 1)
            yield key, value
            position = self._after(value)

    def elements(self, start: int) -> Iterator[int]:
        """Where the values of the array at `start` start."""
        position = self._skip(start + 1)
        while self.text[position] != "]":
            yield position
            position = self._after(position)

    def member(self, start: int, key: str) -> int:
        """Where the value of a key starts; of the last such key, as `json.loads` has it."""
        return dict(self.members(start))[key]

    def end(self, start: int) -> int:
        """Where the value at `start` ends."""
        return int(_decode(self.text, start)[1])

    def first(self) -> int:
        """Where the value of the whole text starts."""
        return self._skip(0)

    def _after(self, value: int) -> int:
        """The next value, or the bracket that closes."""
        position = self._skip(self.end(value))
        return self._skip(position + 1) if self.text[position] == "," else position

    def _skip(self, position: int) -> int:
        blanks = _BLANKS.match(self.text, position)
        assert blanks is not None
        return blanks.end()


def escapes_all_but_ascii(text: str) -> bool:
    r"""Whether a JSON text writes `\u00e9` for `é`."""
    return text.isascii() and _ESCAPED_BEYOND_ASCII.search(text) is not None


@dataclass(frozen=True)
class WrittenText:
    """A text in a JSON file: one string, or a list of strings."""

    raw: str
    """As it is written, from bracket to bracket or from quote to quote."""
    ascii_only: bool
    """How characters beyond ASCII are to be written."""

    @cached_property
    def text(self) -> str:
        """What it says."""
        value = json.loads(self.raw)
        return value if isinstance(value, str) else "".join(value)

    def rewritten(self, text: str) -> str:
        """Another text, written the same way; lines that stay are written as they were."""
        old = self._pieces
        head = _common(old, text)
        rest = text[_length(old[:head]) :]
        tail = _common_end(old[head:], rest)
        middle = rest[: len(rest) - _length(old[len(old) - tail :])]
        new = [_Piece(line, self._inner(line)) for line in _LINE.findall(middle)]
        pieces = [*old[:head], *new, *old[len(old) - tail :]]
        if self.raw.startswith('"'):
            return '"' + "".join(piece.raw for piece in pieces) + '"'
        return self._listed(pieces)

    def place(self, offset: int) -> int:
        """Where a place of the text is written, from the start of what is written."""
        is_list = self.raw.startswith("[")
        position = len(self._opening) if is_list else 0
        end = position + 1
        for piece in self._pieces:
            # Of a list, each piece is a string of its own; of a string, the first has the quote.
            start = position + len(piece.before) + 1 if is_list else max(position, 1)
            if offset < len(piece.said):
                return start + _written_length(piece.raw, offset)
            offset -= len(piece.said)
            end = start + len(piece.raw)
            position = end + is_list
        return end

    def _listed(self, pieces: Sequence[_Piece]) -> str:
        """The elements of a list, each after what stood before it."""
        usual = self._between
        elements = (
            f'{(piece.before or usual) if index else ""}"{piece.raw}"'
            for index, piece in enumerate(pieces)
        )
        return self._opening + "".join(elements) + self._closing

    def _inner(self, line: str) -> str:
        return json.dumps(line, ensure_ascii=self.ascii_only)[1:-1]

    @cached_property
    def _pieces(self) -> list[_Piece]:
        """The lines of a string, or the elements of a list."""
        if self.raw.startswith("["):
            return list(self._elements())
        raws = [""]
        for unit in _UNIT.findall(self.raw[1:-1]):
            raws[-1] += unit
            if unit == "\\n":
                raws.append("")
        return [_Piece(json.loads(f'"{raw}"'), raw) for raw in raws if raw]

    def _elements(self) -> Iterator[_Piece]:
        places = JsonPlaces(self.raw)
        before = None
        for start in places.elements(0):
            end = places.end(start)
            raw = self.raw[start:end]
            between = "" if before is None else self.raw[before:start]
            yield _Piece(json.loads(raw), raw[1:-1], between)
            before = end

    @property
    def _opening(self) -> str:
        """What stands before the first element of the list."""
        return self.raw[: next(JsonPlaces(self.raw).elements(0), 1)]

    @property
    def _closing(self) -> str:
        """What stands after the last element."""
        places = JsonPlaces(self.raw)
        ends = [places.end(start) for start in places.elements(0)]
        return self.raw[ends[-1] :] if ends else "]"

    @property
    def _between(self) -> str:
        """What stands between two elements; where there is one alone, what stands before it."""
        if len(self._pieces) > 1:
            return self._pieces[1].before
        return "," + (self._opening[1:] or " ")


@dataclass(frozen=True)
class _Piece:
    """A line of a text, or an element of a list."""

    said: str
    raw: str
    """As it is written, without quotes."""
    before: str = ""
    """What stands between it and the element before it."""


def _written_length(raw: str, count: int) -> int:
    """How long the first characters of a text are as they are written."""
    written = islice(_CHARACTER.finditer(raw), count)
    return sum(len(character[0]) for character in written)


def _length(pieces: Sequence[_Piece]) -> int:
    return sum(len(piece.said) for piece in pieces)


def _common(pieces: Sequence[_Piece], text: str) -> int:
    """How many pieces at the start are whole lines of `text`, too."""
    count = position = 0
    for piece in pieces:
        end = position + len(piece.said)
        is_line = piece.said.endswith("\n") or end == len(text)
        if not text.startswith(piece.said, position) or not is_line:
            break
        count, position = count + 1, end
    return count


def _common_end(pieces: Sequence[_Piece], text: str) -> int:
    """How many pieces at the end are whole lines of `text`, too."""
    count, end = 0, len(text)
    for piece in reversed(pieces):
        start = end - len(piece.said)
        is_line = start == 0 or text[start - 1 : start] == "\n"
        if start < 0 or text[start:end] != piece.said or not is_line:
            break
        count, end = count + 1, start
    return count

"""Where the values of a JSON text stand in it, so that one can be replaced and no other touched."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

_BLANKS = re.compile(r"[ \t\n\r]*")
_UNIT = re.compile(r"\\u[0-9a-fA-F]{4}|\\.|[^\\]", re.DOTALL)
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_ESCAPED_BEYOND_ASCII = re.compile(r"(?<!\\)(?:\\\\)*\\u(?!00[0-7])[0-9a-fA-F]{4}")
_decode = json.JSONDecoder().raw_decode


class Places:
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
        tail = _common_end(old[head:], text[_length(old[:head]) :])
        kept_end = old[len(old) - tail :]
        middle = text[_length(old[:head]) : len(text) - _length(kept_end)]
        new = [self._inner(line) for line in _LINE.findall(middle)]
        pieces = [*(raw for _, raw in old[:head]), *new, *(raw for _, raw in kept_end)]
        if self.raw.startswith('"'):
            return f'"{"".join(pieces)}"'
        opening, between, closing = self._layout
        return opening + between.join(f'"{piece}"' for piece in pieces) + closing

    def _inner(self, line: str) -> str:
        return json.dumps(line, ensure_ascii=self.ascii_only)[1:-1]

    @cached_property
    def _pieces(self) -> list[tuple[str, str]]:
        """What each line or element says, and how that is written between its quotes."""
        if self.raw.startswith("["):
            return [(json.loads(raw), raw[1:-1]) for raw in self._elements]
        raws = [""]
        for unit in _UNIT.findall(self.raw[1:-1]):
            raws[-1] += unit
            if unit == "\\n":
                raws.append("")
        return [(json.loads(f'"{raw}"'), raw) for raw in raws if raw]

    @cached_property
    def _elements(self) -> list[str]:
        places = Places(self.raw)
        return [self.raw[start : places.end(start)] for start in places.elements(0)]

    @cached_property
    def _layout(self) -> tuple[str, str, str]:
        """What stands before, between and after the elements of a list."""
        places = Places(self.raw)
        starts = list(places.elements(0))
        if not starts:
            return "[", ", ", "]"
        opening, closing = self.raw[: starts[0]], self.raw[places.end(starts[-1]) :]
        if len(starts) == 1:
            return opening, f",{opening[1:] or ' '}", closing
        return opening, self.raw[places.end(starts[0]) : starts[1]], closing


def _length(pieces: Sequence[tuple[str, str]]) -> int:
    return sum(len(said) for said, _ in pieces)


def _common(pieces: Sequence[tuple[str, str]], text: str) -> int:
    """How many pieces at the start are whole lines of `text`, too."""
    count = position = 0
    for said, _ in pieces:
        end = position + len(said)
        if not text.startswith(said, position) or not (said.endswith("\n") or end == len(text)):
            break
        count, position = count + 1, end
    return count


def _common_end(pieces: Sequence[tuple[str, str]], text: str) -> int:
    """How many pieces at the end are whole lines of `text`, too."""
    count, end = 0, len(text)
    for said, _ in reversed(pieces):
        start = end - len(said)
        if start < 0 or text[start:end] != said or (start and text[start - 1] != "\n"):
            break
        count, end = count + 1, start
    return count

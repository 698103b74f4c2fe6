"""Where the comments of a Python text are, and which of its lines are one.

The text has been parsed before, so that what is not Python needs no message here: it is passed
over.  Formatted strings are read as PEP 701 has them (quotes and comments inside of replacement
fields), of which the older rules are a part.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from devicelint.finding import Span

_CODE = re.compile(
    r"""
      (?P<comment> \#[^\r\n]* )
    | (?<!\w) (?i: [ft]r? | r[ft] ) (?P<quote> "{3} | '{3} | ["'] )
    | "{3} [^"\\]* (?: (?: \\. | "(?!"") ) [^"\\]* )* "{3}
    |  '{3} [^'\\]* (?: (?: \\. | '(?!'') ) [^'\\]* )*  '{3}
    | (?!"{3}) " [^"\\\r\n]* (?: \\ (?: \r\n | . ) [^"\\\r\n]* )* "
    | (?!'{3}) ' [^'\\\r\n]* (?: \\ (?: \r\n | . ) [^'\\\r\n]* )* '
    | (?P<unclosed> ["'] )
    | \\ (?: \r\n | [\r\n] )
    | (?P<newline> \r\n | [\r\n] )
    | (?P<bracket> [()\[\]{}:] )
    """,
    re.VERBOSE | re.DOTALL,
)
_LITERAL = re.compile(
    r"""
      \\ (?: \r\n | [^{}] )
    | (?P<doubled> \{\{ | \}\} )
    | (?P<brace> [{}] )
    | (?P<quote> "{3} | '{3} | ["'] )
    """,
    re.VERBOSE | re.DOTALL,
)
_LINE_END = re.compile(r"[\r\n]")

_FIELD = "field"
"""Inside of a replacement field: code."""
_FORMAT = "format"
"""Behind the colon of a replacement field: literal text again."""


@dataclass(frozen=True)
class CommentLayout:
    """What of a text's lines its grammar does not say."""

    comments: tuple[Span, ...]
    joined: tuple[Span, ...]
    """The logical lines that are several physical ones: in brackets, in strings, continued."""


def layout(text: str) -> CommentLayout:
    """Finds the comments and the joined lines of `text`."""
    return _Scanner(text).scan()


def end_of_logical_line(text: str, start: int) -> int:
    """Where the next logical line starts after the one that starts at `start`."""
    return _Scanner(text, logical_start=start).end_of_logical_line()


@dataclass
class _Scanner:
    """Reads a text once; `open` is the stack of what has been opened and not closed.

    It holds brackets, the quotes of formatted strings, and inside of these _FIELD or _FORMAT.
    """

    text: str
    open: list[str] = field(default_factory=list)
    comments: list[Span] = field(default_factory=list)
    joined: list[Span] = field(default_factory=list)
    logical_start: int = 0

    def scan(self) -> CommentLayout:
        position: int | None = 0
        while position is not None:
            position = self._step(position)
        self._end_logical_line(len(self.text), len(self.text))
        return CommentLayout(tuple(self.comments), tuple(self.joined))

    def end_of_logical_line(self) -> int:
        """The end of the logical line that starts at `logical_start`."""
        start = self.logical_start
        position: int | None = start
        while position is not None and self.logical_start == start:
            position = self._step(position)
        return len(self.text) if position is None else self.logical_start

    def _step(self, position: int) -> int | None:
        """Goes on to behind the next thing that matters; None where there is none."""
        in_literal = bool(self.open) and self.open[-1] in _LITERAL_STATES
        pattern = _LITERAL if in_literal else _CODE
        match = pattern.search(self.text, position)
        if match is None:
            return None
        return self._literal(match) if in_literal else self._code(match)

    def _code(self, match: re.Match[str]) -> int:
        if match["comment"]:
            self.comments.append(Span(match.start(), match.end()))
        elif match["quote"]:
            self.open.append(match["quote"])
        elif match["newline"]:
            if not self.open:
                self._end_logical_line(match.start(), match.end())
        elif match["bracket"]:
            self._bracket(match["bracket"])
        elif match["unclosed"]:
            return len(self.text)
        return match.end()

    def _bracket(self, bracket: str) -> None:
        innermost = self.open[-1] if self.open else ""
        if bracket in "([{":
            self.open.append(bracket)
        elif bracket == ":":
            if innermost == _FIELD:
                self.open[-1] = _FORMAT
        elif innermost in ("(", "[", "{") or (innermost == _FIELD and bracket == "}"):
            self.open.pop()

    def _literal(self, match: re.Match[str]) -> int:
        innermost = self.open[-1]
        if match["doubled"] and innermost != _FORMAT:
            return match.end()
        if brace := (match["doubled"] or match["brace"]):
            if brace[0] == "{":
                self.open.append(_FIELD)
            elif innermost == _FORMAT:
                self.open.pop()
            return match.start() + 1
        return self._quote(match) if match["quote"] else match.end()

    def _quote(self, match: re.Match[str]) -> int:
        """Ends the formatted string, where the quote is its own."""
        ending = self.open[-2] if self.open[-1] == _FORMAT else self.open[-1]
        if not match["quote"].startswith(ending):
            return match.start() + 1 if len(ending) == 3 else match.end()
        if self.open.pop() == _FORMAT:
            self.open.pop()
        return match.start() + len(ending)

    def _end_logical_line(self, end: int, next_start: int) -> None:
        if _LINE_END.search(self.text, self.logical_start, end):
            self.joined.append(Span(self.logical_start, end))
        self.logical_start = next_start


_LITERAL_STATES = frozenset(('"', "'", '"' * 3, "'" * 3, _FORMAT))

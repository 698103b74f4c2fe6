"""Where the nodes of a syntax tree stand in the text, to the character."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

LINE_END = re.compile(r"\r\n|\r|\n")
BLANKS = re.compile(r"[ \t]*")
COMMA = re.compile(r"[ \t]*,[ \t]*")

_IGNORED = (tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT)


@dataclass(frozen=True, slots=True)
class Token:
    """A word of the program, by its offsets."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class CallArgument:
    """An argument of a call, with the parentheses around it, by offsets.

    Attributes:
        start: where it begins.
        end: where it ends.
        previous: where the argument before it ends; its own beginning if it is the first.
        comma: where the comma after it stands, if there is one.
    """

    start: int
    end: int
    previous: int
    comma: int | None


class ProgramText:
    """A program's text, with its tokens.

    Args:
        source: a program that Python can parse.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self._starts = [0, *(match.end() for match in LINE_END.finditer(source))]
        self._tokens = list(self._tokenized())

    def place(self, offset: int) -> tuple[int, int]:
        """The line and the column of an offset, both counted from one."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def span(self, node: ast.expr | ast.keyword | ast.stmt) -> tuple[int, int]:
        """The offsets of the beginning and the end of a node."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return (
            self._offset(node.lineno, node.col_offset),
            self._offset(node.end_lineno, node.end_col_offset),
        )

    def dot_before(self, attribute: ast.expr) -> int:
        """Where the dot stands before the name with which an attribute ends."""
        _, end = self.span(attribute)
        index = bisect_left(self._tokens, end, key=lambda token: token.end)
        return self._tokens[index - 1].start

    def is_called_at_once(self, call: ast.Call) -> bool:
        """Whether the function stands in no parentheses of its own, as in `(x.to)(device)`."""
        _, end = self.span(call.func)
        following = bisect_left(self._tokens, end, key=lambda token: token.start)
        return self._tokens[following].text == "("

    def argument(self, call: ast.Call, wanted: ast.expr | ast.keyword) -> CallArgument:
        """Where an argument of a call stands."""
        every: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
        arguments = sorted(every, key=self.span)
        ends = [self.span(each)[1] for each in arguments]
        return list(self._arguments(call, ends))[arguments.index(wanted)]

    def with_comma(self, argument: CallArgument) -> tuple[int, int]:
        """The offsets of an argument and of one comma, so that what is left is a call."""
        if argument.comma is not None:
            blanks = BLANKS.match(self.source, argument.comma + 1)
            assert blanks is not None
            return argument.start, blanks.end()
        between = self.source[argument.previous : argument.start]
        start = argument.previous if COMMA.fullmatch(between) else argument.start
        return start, argument.end

    def _arguments(self, call: ast.Call, ends: list[int]) -> Iterator[CallArgument]:
        """The arguments of a call, whose expressions end at `ends`."""
        tokens = self._inside(call)
        previous = tokens[0].start
        for end in ends:
            piece: list[Token] = []
            comma = None
            while tokens:
                token = tokens.pop(0)
                # A comma before the end of the expression is its own.
                if token.text == "," and token.start >= end:
                    comma = token.start
                    break
                piece.append(token)
            yield CallArgument(piece[0].start, piece[-1].end, previous, comma)
            previous = piece[-1].end

    def _inside(self, call: ast.Call) -> list[Token]:
        """The tokens between the parentheses of a call."""
        _, after = self.span(call.func)
        _, end = self.span(call)
        first = bisect_left(self._tokens, after, key=lambda token: token.start)
        # A function in parentheses of its own is followed by what closes them.
        while self._tokens[first].text != "(":
            first += 1
        last = bisect_left(self._tokens, end, key=lambda token: token.end)
        return self._tokens[first + 1 : last]

    def _tokenized(self) -> Iterator[Token]:
        # Lines end here where they end for the parser, and nothing is translated.
        lines = io.StringIO(self.source, newline="")
        for each in tokenize.generate_tokens(lines.readline):
            if each.type not in _IGNORED and each.string.strip():
                start, end = (self._starts[line - 1] + at for line, at in (each.start, each.end))
                yield Token(start, end, each.string)

    def _offset(self, line: int, column: int) -> int:
        """The offset of a place as syntax trees say it: by bytes of UTF-8."""
        start = self._starts[line - 1]
        # No character takes less than one byte.
        before = self.source[start : start + column].encode()[:column]
        return start + len(before.decode())

"""A parsed file as those see it who change its text: where nodes, lines and strings stand."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import libcst as cst

from devicelint.finding import Edit, Span

_LINE_END = re.compile(r"\r\n|\r|\n")
_LITERAL_OR_COMMENT = re.compile(
    r"#[^\r\n]*"
    r"|\b(?P<prefix>[A-Za-z]{0,2})(?P<quote>\"\"\"|'''|\"|')"
    r"|(?P<bare>\"\"\"|'''|\"|')"
)
_REST = {
    quote: re.compile(
        rf"(?:[^\\]|\\.)*?{quote}" if len(quote) == 3 else rf"(?:[^\\\r\n]|\\.)*?{quote}", re.DOTALL
    )
    for quote in ('"', "'", '"""', "'''")
}


class NotFixable(Exception):
    """A change cannot be made at this place; the message says why."""


@dataclass(frozen=True)
class Literal:
    """A string literal, with its prefix and quotes."""

    span: Span
    prefix: str
    quote: str


@dataclass(frozen=True)
class Layout:
    """The text of a file, and where the nodes that matter stand in it."""

    module: cst.Module = field(repr=False)
    text: str = field(repr=False)
    newline: str
    spans: Mapping[cst.CSTNode, Span] = field(repr=False)
    first_use: int | None = None
    """Where the names that this fix defines are needed first, where it defines any."""

    def span(self, site: cst.CSTNode) -> Span:
        """Where a node stands."""
        return self.spans[site]

    def slice(self, start: int, end: int) -> str:
        """The text between two offsets."""
        return self.text[start:end]

    def line_start(self, offset: int) -> int:
        """Where the line of `offset` starts, after a byte order mark."""
        start = max(self.text.rfind("\n", 0, offset), self.text.rfind("\r", 0, offset)) + 1
        return start + self.text.startswith("\ufeff", start)

    def line_end(self, offset: int) -> int:
        """Where the line of `offset` ends, before its newline."""
        end = _LINE_END.search(self.text, offset)
        return end.start() if end else len(self.text)

    def next_line(self, offset: int) -> int | None:
        """Where the line after that of `offset` starts; None where `offset` is on the last line."""
        end = _LINE_END.search(self.text, offset)
        return end.end() if end else None

    def indentation(self, offset: int) -> str:
        """The blanks before `offset` on its line."""
        return self.slice(self.line_start(offset), offset).rpartition("\f")[2]

    def insert(self, offset: int, content: str) -> Edit:
        """The edit that puts text in."""
        return Edit(Span(offset, offset), content)

    def quoted(self, content: str, offset: int) -> str:
        """Code to be put at `offset`, with the quotes of the file, or that an f-string allows."""
        used = {quote for quote in "'\"" if quote in content}
        if not used:
            return content
        around = self._formatted_string_around(offset)
        wanted = _other(around.quote[0]) if around else self.preferred_quote
        if used == {wanted}:
            return content
        if len(used) == 1 and "\\" not in content:
            return content.replace(_other(wanted), wanted)
        if around:
            raise NotFixable("the change needs quotes inside an f-string")
        return content

    @cached_property
    def preferred_quote(self) -> str:
        """The quote of most short strings of the file."""
        quotes = [literal.quote for literal in self.literals]
        return "'" if quotes.count("'") > quotes.count('"') else '"'

    @cached_property
    def literals(self) -> tuple[Literal, ...]:
        """The string literals of the file, an f-string as one, whatever strings it contains."""
        found: list[Literal] = []
        position = 0
        while match := _LITERAL_OR_COMMENT.search(self.text, position):
            position = match.end()
            quote = match["quote"] or match["bare"]
            if quote:
                rest = _REST[quote].match(self.text, position)
                position = rest.end() if rest else position
                span = Span(match.start(), position)
                found.append(Literal(span, match["prefix"] or "", quote))
        return tuple(found)

    def _formatted_string_around(self, offset: int) -> Literal | None:
        for literal in self.literals:
            if literal.span.start < offset < literal.span.end and "f" in literal.prefix.lower():
                return literal
        return None


def _other(quote: str) -> str:
    return "'" if quote == '"' else '"'

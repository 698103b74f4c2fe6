"""Changes of statements."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import libcst as cst

from devicelint.finding import Edit, Span
from devicelint.fixes.change import Change
from devicelint.fixes.layout import Layout, NotFixable
from devicelint.fixes.suites import InsertionPlace, extent, place_of

_HEADS = re.compile(r"(async|class|def|for|if|match|try|while|with)\b|@")


@dataclass(frozen=True)
class _AtStatement(Change):
    """A change around the statement that `site` is, or is part of."""

    looks_around = True

    site: cst.CSTNode

    def sites(self) -> Iterable[cst.CSTNode]:
        yield self.site


@dataclass(frozen=True)
class InsertStatement(_AtStatement):
    r"""Puts the statement `content` before or after the one that `site` is, or is part of.

    It gets a line of its own, with the indentation and the newline of the file, except on a line
    that has other statements: `a; b`, `if a: b`. Lines of `content` end with `\n` and are indented
    relative to the statement.
    """

    content: str
    where: Literal["before", "after"] = "before"

    def edits(self, layout: Layout) -> Iterator[Edit]:
        """One insertion."""
        place = place_of(self.site, layout)
        span = place.span(layout)
        content = layout.quoted(self.content, span.start)
        if self.where == "before":
            yield _before(place, span, content, layout)
        else:
            yield _after(place, span, content, layout)


@dataclass(frozen=True)
class RemoveStatement(_AtStatement):
    """Takes out the statement that `site` is, or is part of, with the comment behind it.

    Where a suite would be left empty, there is `pass` instead.
    """

    def edits(self, layout: Layout) -> Iterator[Edit]:
        """One deletion, or replacement by `pass`."""
        place = place_of(self.site, layout)
        span = place.span(layout)
        is_whole_line = place.is_first and place.is_last
        if place.follows_head or not is_whole_line:
            yield _out_of_line(place, span, layout)
        elif len(place.block) == 1 and not _is_top_level(place, layout):
            yield Edit(span, "pass")
        else:
            yield Edit(_lines(span, layout), "")


@dataclass(frozen=True)
class GuardStatement(_AtStatement):
    """Puts the statement that `site` is, or is part of, under `if condition:`."""

    condition: str

    def edits(self, layout: Layout) -> Iterator[Edit]:
        """One insertion; only a statement with lines of its own can be guarded."""
        place = place_of(self.site, layout)
        span = place.span(layout)
        if place.follows_head or not (place.is_first and place.is_last):
            raise NotFixable("only a statement on a line of its own can be put under a condition")
        if "\n" in layout.slice(span.start, span.end):
            raise NotFixable("a statement of several lines would need to be reformatted")
        condition = layout.quoted(self.condition, span.start)
        inner = f"{layout.indentation(span.start)}    "
        yield layout.insert(span.start, f"if {condition}:{layout.newline}{inner}")


def _is_top_level(place: InsertionPlace, layout: Layout) -> bool:
    return place.line in layout.module.body


def _before(place: InsertionPlace, span: Span, content: str, layout: Layout) -> Edit:
    if not place.is_first:
        return layout.insert(span.start, f"{_simple(content)}; ")
    indentation = layout.indentation(span.start)
    lines = _indented(content, indentation, layout)
    start = _above_its_comments(layout.line_start(span.start), indentation, layout)
    return layout.insert(start, f"{lines}{layout.newline}")


def _above_its_comments(start: int, indentation: str, layout: Layout) -> int:
    """Where the comment that introduces a statement starts: what is put before it goes there.

    A comment at the top of the file introduces the file.
    """
    first = start
    while first > 0:
        newline = 2 if layout.slice(first - 2, first) == "\r\n" else 1
        above = layout.line_start(first - newline)
        if not layout.slice(above, first).startswith(f"{indentation}#"):
            return first
        first = above
    return start


def _after(place: InsertionPlace, span: Span, content: str, layout: Layout) -> Edit:
    if not place.is_last:
        return layout.insert(span.end, f"; {_simple(content)}")
    indentation = layout.indentation(extent(place.line, layout).start)
    lines = _indented(content, indentation, layout)
    offset = layout.next_line(span.end)
    if offset is None:
        return layout.insert(len(layout.text), f"{layout.newline}{lines}")
    return layout.insert(offset, f"{lines}{layout.newline}")


def _simple(content: str) -> str:
    """A statement that may share a line."""
    if "\n" in content or _HEADS.match(content):
        raise NotFixable("only a simple statement fits beside the other statements of its line")
    return content


def _indented(content: str, indentation: str, layout: Layout) -> str:
    return layout.newline.join(
        f"{indentation}{line}" if line else line for line in content.split("\n")
    )


def _out_of_line(place: InsertionPlace, span: Span, layout: Layout) -> Edit:
    """Removes a statement from between the others of its line."""
    following = place.siblings.index(place.statements[-1]) + 1
    first = place.siblings.index(place.statements[0])
    if following < len(place.siblings):
        return Edit(Span(span.start, layout.span(place.siblings[following]).start), "")
    if first:
        return Edit(Span(layout.span(place.siblings[first - 1]).end, span.end), "")
    return Edit(span, "pass")


def _lines(span: Span, layout: Layout) -> Span:
    """The lines of a statement, but for form feeds before it.

    Of the blank lines on both sides, those on the side with fewer go as well.
    """
    start = span.start - len(layout.indentation(span.start))
    end = layout.next_line(span.end)
    if end is None:
        return Span(start, len(layout.text))
    newline = layout.newline
    above = layout.slice(0, layout.line_start(span.start)).removesuffix(newline)
    while above.endswith(newline) and layout.text.startswith(newline, end):
        above, end = above.removesuffix(newline), end + len(newline)
    return Span(start, end)

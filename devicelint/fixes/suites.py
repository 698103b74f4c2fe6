"""Which statement a node belongs to, and what stands beside that statement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from devicelint.finding import Span
from devicelint.fixes.layout import Layout

Statement = cst.BaseStatement | cst.BaseSmallStatement


@dataclass(frozen=True)
class InsertionPlace:
    """One statement among its siblings.

    `siblings` share a line, `x = 1; y = 2`, or a line with their head, `if x: y; z`, or are the
    lines of an indented block.
    """

    statements: tuple[Statement, ...]
    """The statement; all of a line, where the line was asked for."""
    siblings: tuple[Statement, ...]
    line: Statement
    """The statement of the block that starts this line."""
    block: tuple[Statement, ...]
    """The statements of that block."""
    follows_head: bool
    """Whether it stands on the line of a head, as in `if x: y`."""

    @property
    def is_first(self) -> bool:
        """Whether nothing of its siblings stands before it on its line."""
        return not self.follows_head and self.statements[0] is self.siblings[0]

    @property
    def is_last(self) -> bool:
        """Whether nothing of its siblings stands after it on its line."""
        return not self.follows_head and self.statements[-1] is self.siblings[-1]

    def span(self, layout: Layout) -> Span:
        """Where the statement stands, with its decorators."""
        first, last = self.statements[0], self.statements[-1]
        return Span(extent(first, layout).start, extent(last, layout).end)


def extent(statement: cst.CSTNode, layout: Layout) -> Span:
    """Where a statement stands, with its decorators."""
    span = layout.span(statement)
    decorators = getattr(statement, "decorators", ())
    return Span(layout.span(decorators[0]).start, span.end) if decorators else span


def statement_nodes(module: cst.Module) -> Iterator[cst.CSTNode]:
    """The nodes whose places `place_of` needs to know."""
    for place in places(module):
        yield place.line
        yield from place.statements
        yield from getattr(place.line, "decorators", ())[:1]


def place_of(site: cst.CSTNode, layout: Layout) -> InsertionPlace:
    """The innermost statement that `site` is, or is part of."""
    wanted = layout.span(site)
    found: InsertionPlace | None = None
    size = len(layout.text) + 1
    for place in places(layout.module):
        if isinstance(site, cst.SimpleStatementLine) and place.line is site:
            return _whole_line(place)
        span = place.span(layout)
        if span.start <= wanted.start and wanted.end <= span.end and span.end - span.start < size:
            found, size = place, span.end - span.start
    if found is None:
        raise ValueError(f"{type(site).__name__} is not part of a statement of the module")
    return found


def places(module: cst.Module) -> Iterator[InsertionPlace]:
    """All statements of a module, in the order of their lines."""
    yield from _of_block(module.body)


def _of_block(block: Sequence[Statement]) -> Iterator[InsertionPlace]:
    siblings = tuple(block)
    for statement in siblings:
        if isinstance(statement, cst.SimpleStatementLine):
            for small in statement.body:
                yield InsertionPlace((small,), tuple(statement.body), statement, siblings, False)
        else:
            yield InsertionPlace((statement,), (statement,), statement, siblings, False)
            for suite in suites(statement):
                yield from _of_suite(suite, statement, siblings)


def _of_suite(
    suite: cst.BaseSuite, head: Statement, siblings: tuple[Statement, ...]
) -> Iterator[InsertionPlace]:
    if isinstance(suite, cst.SimpleStatementSuite):
        for small in suite.body:
            yield InsertionPlace((small,), tuple(suite.body), head, siblings, True)
    else:
        yield from _of_block(list(suite.body))


def suites(statement: cst.CSTNode) -> Iterator[cst.BaseSuite]:
    """The suites of a compound statement, in their order: of `try`, `except`, `else`, `finally`."""
    body = getattr(statement, "body", None)
    if isinstance(body, cst.BaseSuite):
        yield body
    for name in ("handlers", "cases"):
        for clause in getattr(statement, name, ()):
            yield from suites(clause)
    for name in ("orelse", "finalbody"):
        clause = getattr(statement, name, None)
        if clause is not None:
            yield from suites(clause)


def _whole_line(place: InsertionPlace) -> InsertionPlace:
    return InsertionPlace(
        place.siblings, place.siblings, place.line, place.block, place.follows_head
    )

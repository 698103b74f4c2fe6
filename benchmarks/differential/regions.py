"""Which parts of a program ran: each part that may be passed over notes that it was reached.

A part is a statement, or what is inside of one and need not run with it: a branch of `a if b else
c`, what stands behind `and` and `or`, the body of a lambda, the elements of a comprehension.
"""

from __future__ import annotations

import ast
import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

REACHED = "__reached__"
"""What the program calls with the number of a part."""

TESTED = "__tested__"
"""What the program calls with the number of a condition and its value; it gives its truth."""

CAUGHT = "__caught__"
"""What the program calls where it has caught an exception."""


@dataclass(frozen=True)
class Watched:
    """A program that notes which of its parts are reached.

    Attributes:
        code: compiled; it calls `REACHED` with the number of a part.
        parts: of each part, the characters from its first up to, not including, its end.
        starts: the first character of each line.
        conditions: each condition, as `ast.unparse` has it.
        accelerators: the strings that name an accelerator, each by its first character.
    """

    code: CodeType
    parts: tuple[tuple[int, int], ...]
    starts: tuple[int, ...]
    conditions: tuple[str, ...]
    accelerators: tuple[int, ...]

    def line_of(self, offset: int) -> int:
        """The line of a character, counted from 1."""
        return bisect_right(self.starts, offset)

    def part_at(self, offset: int) -> int | None:
        """The innermost part in which a character stands; None outside of all statements."""
        holding = [
            (end - start, number)
            for number, (start, end) in enumerate(self.parts)
            if start <= offset < end
        ]
        return min(holding)[1] if holding else None

    def was_reached(self, offset: int, reached: Set[int]) -> bool:
        """Whether what stands at a character has run."""
        return self.part_at(offset) in reached


def watched(text: str, file: str) -> Watched:
    """Compile a program so that it notes what it reaches; raises SyntaxError as `compile` does."""
    tree = ast.parse(text, file)
    offsets = _Offsets.of(text)
    accelerators = tuple(_accelerators(tree, offsets))
    conditions = list(_watch_conditions(tree))
    marker = _Marker(offsets)
    marker.mark(tree)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        code = compile(tree, file, "exec")
    return Watched(code, tuple(marker.parts), offsets.starts, tuple(conditions), accelerators)


@dataclass(frozen=True)
class _Offsets:
    """Turns the places of the syntax tree, whose columns count bytes, into characters."""

    lines: tuple[str, ...]
    starts: tuple[int, ...]

    @classmethod
    def of(cls, text: str) -> _Offsets:
        lines = tuple(text.split("\n"))
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line) + 1)
        return cls(lines, tuple(starts))

    def at(self, line: int, column: int) -> int:
        text = self.lines[line - 1]
        if not text.isascii():
            column = len(text.encode()[:column].decode())
        return self.starts[line - 1] + column

    def line_of(self, offset: int) -> int:
        return bisect_right(self.starts, offset)


def line_starts(text: str) -> Callable[[int], int]:
    """A function from a character to its line, counted from 1."""
    return _Offsets.of(text).line_of


@dataclass
class _Marker:
    offsets: _Offsets
    parts: list[tuple[int, int]] = field(default_factory=list)

    def mark(self, node: ast.AST) -> None:
        """Mark all that stands inside of a node."""
        for name, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                setattr(node, name, list(self._statements(value, node)))
            elif isinstance(value, list):
                for each in value:
                    if isinstance(each, ast.AST):
                        self.mark(each)
            elif isinstance(value, ast.AST):
                self.mark(value)
        self._mark_expressions(node)

    def _statements(self, block: list[ast.stmt], owner: ast.AST) -> Iterator[ast.stmt]:
        waiting = list(block)
        while waiting and _must_come_first(waiting[0], is_first=waiting[0] is block[0]):
            yield waiting.pop(0)
        if isinstance(owner, ast.ExceptHandler):
            place = _place_of(block[0])
            call = ast.Call(ast.Name(CAUGHT, _LOAD, **place), [], [], **place)
            yield ast.Expr(call, **place)
        for statement in waiting:
            yield ast.Expr(self._call(statement), **_place_of(statement))
            self.mark(statement)
            yield statement

    def _mark_expressions(self, node: ast.AST) -> None:
        if isinstance(node, ast.IfExp):
            node.body, node.orelse = self._noting(node.body), self._noting(node.orelse)
        elif isinstance(node, ast.BoolOp):
            node.values[1:] = [self._noting(each) for each in node.values[1:]]
        elif isinstance(node, ast.Lambda):
            node.body = self._noting(node.body)
        elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
            node.elt = self._noting(node.elt)
        elif isinstance(node, ast.DictComp):
            node.value = self._noting(node.value)

    def _noting(self, expression: ast.expr) -> ast.expr:
        """The expression, which is noted before it is evaluated: `(noted(3), expression)[1]`."""
        place = _place_of(expression)
        pair = ast.Tuple([self._call(expression), expression], _LOAD, **place)
        return ast.Subscript(pair, ast.Constant(1, **place), _LOAD, **place)

    def _call(self, node: ast.stmt | ast.expr) -> ast.Call:
        number = len(self.parts)
        self.parts.append(self._extent(node))
        place = _place_of(node)
        name = ast.Name(REACHED, _LOAD, **place)
        return ast.Call(name, [ast.Constant(number, **place)], [], **place)

    def _extent(self, node: ast.stmt | ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        first = node
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.decorator_list:
            first = node.decorator_list[0]
        return (
            self.offsets.at(first.lineno, first.col_offset),
            self.offsets.at(node.end_lineno, node.end_col_offset),
        )


def _accelerators(tree: ast.AST, offsets: _Offsets) -> Iterator[int]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        if node.value.partition(":")[0] == "cuda":
            yield offsets.at(node.lineno, node.col_offset)


def _watch_conditions(tree: ast.AST) -> Iterator[str]:
    """Let each condition, and each part of it, tell its truth; yields what is written there."""
    texts: list[str] = []

    def telling(condition: ast.expr) -> ast.expr:
        number, place = len(texts), _place_of(condition)
        texts.append(ast.unparse(condition))
        if isinstance(condition, ast.BoolOp):
            condition.values = [telling(each) for each in condition.values]
        elif isinstance(condition, ast.UnaryOp) and isinstance(condition.op, ast.Not):
            condition.operand = telling(condition.operand)
        name = ast.Name(TESTED, _LOAD, **place)
        return ast.Call(name, [ast.Constant(number, **place), condition], [], **place)

    for node in list(ast.walk(tree)):
        if isinstance(node, (ast.If, ast.While, ast.IfExp, ast.Assert)):
            node.test = telling(node.test)
        elif isinstance(node, ast.comprehension):
            node.ifs = [telling(each) for each in node.ifs]
    yield from texts


_LOAD = ast.Load()


def _place_of(node: ast.stmt | ast.expr) -> dict[str, Any]:
    """The place of a node, for one that is made beside it."""
    return {
        "lineno": node.lineno,
        "col_offset": node.col_offset,
        "end_lineno": node.end_lineno,
        "end_col_offset": node.end_col_offset,
    }


def _must_come_first(statement: ast.stmt, *, is_first: bool) -> bool:
    """Whether no statement may stand before it: a docstring, an import from the future."""
    if isinstance(statement, ast.ImportFrom):
        return statement.module == "__future__"
    return (
        is_first and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )

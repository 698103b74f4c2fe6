"""Marks places of a script, so that a run shows which of them it came to."""

from __future__ import annotations

import ast
import difflib
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runtime_guard.mutation.text import LINE_END, ProgramText

MADE = "runtime_guard_made"
"""The built-in function that a marked script calls, with the index of a mark and a value."""


@dataclass(frozen=True, slots=True)
class MarkedPlace:
    """A place of a script: an expression, or the beginning of a statement.

    Attributes:
        line: on which line it is, counted from one.
        start: its offset.
        end: where the expression ends; None for a statement.
    """

    line: int
    start: int
    end: int | None = None


def parsed(source: str) -> ast.Module:
    """The syntax tree of a script; what Python warns of, it says when the script runs.

    Raises:
        SyntaxError: it is no Python program.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


def marked(source: str, marks: Sequence[MarkedPlace], first: int = 0) -> str:
    """The source in which each place, once reached, calls `MADE` with its index.

    The function is given the value of the expression as well, and has to return it. Each line
    keeps its number. The indices begin at `first`.
    """
    added: list[tuple[int, int, str]] = []
    for index, mark in enumerate(marks, start=first):
        if mark.end is None:
            added.append((mark.start, 0, f"{MADE}({index}, None); "))
        else:
            # Of two that begin at one place, the longer one is around the other.
            added += [(mark.start, -mark.end, f"{MADE}({index}, ("), (mark.end, 0, "))")]
    for offset, _, text in sorted(added, key=lambda each: each[:2], reverse=True):
        source = source[:offset] + text + source[offset:]
    return source


def changed(before: str, after: str) -> tuple[MarkedPlace, ...]:
    """The statements of `after` that have a line which is not in `before`.

    What begins with no expression, such as `def` or `try`, is left out: its body counts.

    Raises:
        SyntaxError: `after` is no Python program.
    """
    text, new = ProgramText(after), _new_lines(before, after)
    found = (mark for node in ast.walk(parsed(after)) for mark in _mark_of(node, new, text))
    return tuple(sorted(found, key=lambda mark: mark.start))


def _new_lines(before: str, after: str) -> set[int]:
    """The numbers of the lines of `after` that are not in `before`."""
    # As Python counts lines: a form feed ends none.
    old, new = (LINE_END.split(text) for text in (before, after))
    blocks = difflib.SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    kept = {number for block in blocks for number in range(block.b, block.b + block.size)}
    return {number + 1 for number in range(len(new)) if number not in kept}


def _mark_of(node: ast.AST, lines: set[int], text: ProgramText) -> Iterator[MarkedPlace]:
    """The mark of a statement, if one of these lines is its own."""
    if not isinstance(node, ast.stmt):
        return
    body = getattr(node, "body", None) or getattr(node, "cases", None)
    last = node.end_lineno or node.lineno
    if body:
        inner = getattr(body[0], "pattern", body[0])
        last = max(node.lineno, inner.lineno - 1)
    if lines.isdisjoint(range(node.lineno, last + 1)):
        return
    header = _header(node)
    if header is not None:
        yield MarkedPlace(node.lineno, *text.span(header))
    elif not body and _may_follow_another(node):
        yield MarkedPlace(node.lineno, text.span(node)[0])


def _header(node: ast.stmt) -> ast.expr | None:
    """The expression with which a compound statement begins."""
    match node:
        case ast.If() | ast.While():
            return node.test
        case ast.For() | ast.AsyncFor():
            return node.iter
        case ast.With() | ast.AsyncWith():
            return node.items[0].context_expr
        case ast.Match():
            return node.subject
        case _:
            return None


def _may_follow_another(node: ast.stmt) -> bool:
    """Whether a simple statement means the same behind another: no docstring, no `__future__`."""
    if isinstance(node, ast.Expr):
        return not isinstance(node.value, ast.Constant)
    return not (isinstance(node, ast.ImportFrom) and node.module == "__future__")

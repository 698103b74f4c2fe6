"""Makes the training loops of a script short, and changes next to nothing else of it.

A loop that trains ends once it has gone round a few times, and backward was called a few times
since it began: `few_rounds`, which `child/adoption_few.py` makes a builtin, sees to it. What comes
after the training is run as well, then.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeAlias

Loop: TypeAlias = ast.For | ast.While
Edit: TypeAlias = tuple[int, int, int, str]
"""A line, from which byte of it to which, and what is to stand there."""


def shortened(text: str) -> str:
    """A script whose training loops are short; each line keeps its number.

    `loss.data[0]`, which gave a number before torch 0.4, gives one again.
    """
    tree = ast.parse(text)
    training = _training_functions(tree)
    lines = [line.encode() for line in text.splitlines(keepends=True)]
    edits: list[tuple[int, int, int, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.For | ast.While) and _calls(node) & training:
            edits += _shorten(node, lines)
        elif isinstance(node, ast.Subscript):
            edits += _modernise(node)
    for row, start, end, words in sorted(edits, reverse=True):
        line = lines[row - 1]
        lines[row - 1] = line[:start] + words.encode() + line[end:]
    return b"".join(lines).decode()


def _training_functions(tree: ast.AST) -> set[str]:
    """The names of functions and methods that call backward, directly or not."""
    functions = [
        (node.name, _calls(node))
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name != "forward"
    ]
    found = {"backward"}
    while True:
        more = {name for name, called in functions if called & found} - found
        if not more:
            return found
        found |= more


def _calls(node: ast.AST) -> set[str]:
    return {name for each in ast.walk(node) for name in _called(each)}


def _called(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name):
            yield node.func.id
        elif isinstance(node.func, ast.Attribute):
            yield node.func.attr


def _shorten(loop: Loop, lines: list[bytes]) -> Iterator[Edit]:
    inner = loop.iter if isinstance(loop, ast.For) else loop.test
    if any(isinstance(each, ast.NamedExpr) for each in ast.walk(inner)):
        return
    row, column = _end(inner)
    if isinstance(loop, ast.For):
        yield inner.lineno, inner.col_offset, inner.col_offset, "few_rounds(("
        yield row, column, column, "))"
        return
    colon = lines[loop.lineno - 1].find(b":", column)
    if loop.lineno == row and colon >= 0:
        # The condition may stand in parentheses right after the word.
        word = loop.col_offset + len("while")
        yield row, loop.col_offset, word, "for _round_ in few_rounds(iter(lambda: bool("
        yield row, colon, colon, "), False))"


def _modernise(node: ast.Subscript) -> Iterator[Edit]:
    of_data = isinstance(node.value, ast.Attribute) and node.value.attr == "data"
    is_first = isinstance(node.slice, ast.Constant) and node.slice.value == 0
    start, end = _end(node.value), _end(node)
    if of_data and is_first and isinstance(node.ctx, ast.Load) and start[0] == end[0]:
        yield node.lineno, node.col_offset, node.col_offset, "first_of("
        yield start[0], start[1], end[1], ")"


def _end(node: ast.expr) -> tuple[int, int]:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return node.end_lineno, node.end_col_offset

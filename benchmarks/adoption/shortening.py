"""Makes the training loops of a script short, and changes nothing else of it.

A loop that trains ends once it has gone round a few times, and backward was called a few times
since it began: `few_rounds`, which `child/adoption_few.py` makes a builtin, sees to it. What comes
after the training is run as well, then.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeAlias

Loop: TypeAlias = ast.For | ast.While
Insertion: TypeAlias = tuple[int, int, str]


def shortened(text: str) -> str:
    """A script whose training loops are short; each line keeps its number."""
    tree = ast.parse(text)
    training = _training_functions(tree)
    lines = text.splitlines(keepends=True)
    insertions = [
        each
        for loop in ast.walk(tree)
        if isinstance(loop, ast.For | ast.While) and _calls(loop) & training
        for each in _insertions(loop, lines)
    ]
    for row, column, words in sorted(insertions, reverse=True):
        line = lines[row - 1].encode()
        lines[row - 1] = (line[:column] + words.encode() + line[column:]).decode()
    return "".join(lines)


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


def _insertions(loop: Loop, lines: list[str]) -> Iterator[Insertion]:
    inner = loop.iter if isinstance(loop, ast.For) else loop.test
    if any(isinstance(each, ast.NamedExpr) for each in ast.walk(inner)):
        return
    assert inner.end_lineno is not None
    assert inner.end_col_offset is not None
    end = (inner.end_lineno, inner.end_col_offset)
    if isinstance(loop, ast.For):
        yield inner.lineno, inner.col_offset, "few_rounds(("
        yield *end, "))"
        return
    # The words `while` and `while(` alike end before the condition begins.
    line = lines[loop.lineno - 1].encode()
    colon = line.find(b":", inner.end_col_offset)
    if loop.lineno != inner.end_lineno or colon < 0:
        return
    yield loop.lineno, loop.col_offset, "for _round_ in few_rounds(iter(lambda: bool("
    yield loop.lineno, colon, "), False))"
    lines[loop.lineno - 1] = (
        line[: loop.col_offset] + b" " * 5 + line[loop.col_offset + 5 :]
    ).decode()

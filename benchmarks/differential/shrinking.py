"""Makes a program shorter, as long as it keeps what is asked of it.

What is taken out are whole statements, many at once and then fewer; then compound statements make
way for what is inside of them, and expressions for a part of themselves.  Each line keeps its
marks.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from benchmarks.differential.program import Program

Keeps: TypeAlias = Callable[[Program], bool]
"""Whether a program still has what it is kept for."""

MOST_TRIES = 600
"""So many programs are tried at most."""


def shrunk(program: Program, keeps: Keeps, most: int = MOST_TRIES) -> Program:
    """The shortest program that was found to keep it; the given one, if no other does."""
    search = _Search(program, keeps, most)
    before = None
    while search.best != before and search.left > 0:
        before = search.best
        search.remove_statements()
        for candidates in (_without_gaps, _unwrapped, _without_parts, _simplified):
            search.try_all(candidates)
    return search.best


@dataclass(frozen=True)
class _Edit:
    """Replaces the lines from one up to, not including, another, counted from 0."""

    start: int
    end: int
    lines: tuple[str, ...]

    def of(self, program: Program) -> Program:
        """The program that it makes; new lines take the marks of the first that they replace."""
        lines = program.text.splitlines()
        marks = frozenset[str]().union(*program.marks[self.start : self.end])
        return Program(
            "\n".join([*lines[: self.start], *self.lines, *lines[self.end :]]) + "\n",
            (
                *program.marks[: self.start],
                *(self._marks(program, number, marks) for number in range(len(self.lines))),
                *program.marks[self.end :],
            ),
        )

    def _marks(self, program: Program, number: int, marks: frozenset[str]) -> frozenset[str]:
        """Lines that are only moved to the left keep their own."""
        lines = program.text.splitlines()
        same = (
            program.marks[place]
            for place in range(self.start, self.end)
            if lines[place].strip() == self.lines[number].strip()
        )
        return next(same, marks)


class _Search:
    """The best program so far, and how many may still be tried."""

    def __init__(self, program: Program, keeps: Keeps, most: int) -> None:
        self.best = program
        self.left = most
        self._keeps = keeps
        self._tried: set[str] = set()

    def remove_statements(self) -> None:
        """Take out statements of the program, from its end: half of them, and then fewer."""
        size = max(len(_removals(self.best)) // 2, 1)
        while size:
            place = len(_removals(self.best))
            while place > 0:
                removals = _removals(self.best)[max(place - size, 0) : place]
                self._try(_applied(self.best, removals))
                place -= size
            size //= 2

    def try_all(self, candidates: Callable[[Program], Iterator[_Edit]]) -> None:
        """Try edits, each on the program that the one before has left."""
        place = 0
        while True:
            edits = list(candidates(self.best))
            if place >= len(edits) or self.left <= 0:
                return
            if not self._try(edits[place].of(self.best)):
                place += 1

    def _try(self, candidate: Program | None) -> bool:
        """Take a program for the best, if it keeps what it has to."""
        if candidate is None or self.left <= 0 or candidate.text in self._tried:
            return False
        self._tried.add(candidate.text)
        if len(candidate.text) >= len(self.best.text) or not _is_valid(candidate.text):
            return False
        self.left -= 1
        if not self._keeps(candidate):
            return False
        self.best = candidate
        return True


def _is_valid(text: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, "<shrunk>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            return False
    return True


def _blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        for _, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                yield value


def _removals(program: Program) -> list[_Edit]:
    """An edit for each statement that takes it out, in the order of their beginnings."""
    edits = [
        _removal(statement, block)
        for block in _blocks(ast.parse(program.text))
        for statement in block
    ]
    return sorted(edits, key=lambda edit: edit.start)


def _removal(statement: ast.stmt, block: Sequence[ast.stmt]) -> _Edit:
    start, end = _lines_of(statement)
    stays = ("pass",) if len(block) == 1 else ()
    return _Edit(start, end, tuple(" " * statement.col_offset + line for line in stays))


def _applied(program: Program, edits: Sequence[_Edit]) -> Program | None:
    """The program without several statements; the last first, and inner ones with theirs."""
    outer: list[_Edit] = []
    for edit in edits:
        if not outer or edit.start >= outer[-1].end:
            outer.append(edit)
    made = program
    for edit in reversed(outer):
        made = edit.of(made)
    return made if outer else None


def _lines_of(node: ast.stmt) -> tuple[int, int]:
    """The first line of a statement, from 0, and the one after its last."""
    first = node
    decorators = getattr(node, "decorator_list", [])
    start = min([first.lineno, *(each.lineno for each in decorators)])
    assert node.end_lineno is not None
    return start - 1, node.end_lineno


def _without_gaps(program: Program) -> Iterator[_Edit]:
    """Blank lines go."""
    for number, line in enumerate(program.text.splitlines()):
        if not line.strip():
            yield _Edit(number, number + 1, ())


def _unwrapped(program: Program) -> Iterator[_Edit]:
    """`if`, `for`, `with` and `try` make way for what is inside of them."""
    lines = program.text.splitlines()
    for node in ast.walk(ast.parse(program.text)):
        if not isinstance(node, (ast.If, ast.For, ast.While, ast.With, ast.Try)):
            continue
        for block in (node.body, getattr(node, "orelse", [])):
            if block:
                start, _ = _lines_of(block[0])
                _, end = _lines_of(block[-1])
                shift = block[0].col_offset - node.col_offset
                inside = tuple(line[shift:] for line in lines[start:end])
                yield _Edit(*_lines_of(node), inside)


def _without_parts(program: Program) -> Iterator[_Edit]:
    """Calls lose an argument, definitions a parameter, classes a base, displays an element."""
    for node in ast.walk(ast.parse(program.text)):
        parts: list[ast.AST] = []
        if isinstance(node, ast.Call):
            parts = [*node.args, *node.keywords]
        elif isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            parts = [*node.elts]
        elif isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            parts = [*node.decorator_list]
        for part in parts:
            yield from _cut(program, part)


def _cut(program: Program, part: ast.AST) -> Iterator[_Edit]:
    """Take a part of one line out, with the comma before or after it."""
    place = _place_in_line(part)
    if place is None:
        return
    number, start, end = place
    line = program.text.splitlines()[number]
    before, after = line[:start], line[end:]
    if after.startswith(", "):
        yield _Edit(number, number + 1, (before + after[2:],))
    elif before.endswith(", "):
        yield _Edit(number, number + 1, (before[:-2] + after,))
    else:
        yield _Edit(number, number + 1, (before + after,))


def _simplified(program: Program) -> Iterator[_Edit]:
    """An expression makes way for a part of itself, the largest first."""
    lines = program.text.splitlines()
    for node in ast.walk(ast.parse(program.text)):
        whole = _place_in_line(node) if isinstance(node, ast.expr) else None
        if whole is None:
            continue
        number, start, end = whole
        for inner in ast.iter_child_nodes(node):
            place = _place_in_line(inner) if isinstance(inner, ast.expr) else None
            if place is not None and place[0] == number:
                line = lines[number]
                kept = line[place[1] : place[2]]
                yield _Edit(number, number + 1, (line[:start] + kept + line[end:],))


def _place_in_line(node: ast.AST) -> tuple[int, int, int] | None:
    """The line of a node, from 0, with its first and last column; None where it has several."""
    first, last = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
    if first is None or first != last:
        return None
    start, end = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", None)
    return None if end is None else (first - 1, start, end)

"""Training loops, the moves in them, and what must be said where one of these is forgotten.

A move is `.to(device)`, `.cpu()`, `to_device(batch, device)` or an argument `device=device`. Each
is taken out on its own, which makes one mutant; lines keep their numbers. The loops say in
comments what then happens. Clauses are parted by semicolons; those of a comment on a line of its
own are about the next line of code. `A` and `B` stand for mutants:

    # move A B                      the moves of this line, from left to right
    # model net                     `net` is a model, made here
    # fails A: net.fc (Linear) x    the guard finds here that argument `x` of net.fc is wrong
    # explained A: net.fc (Linear) x    the same of the error that torch raises, where that is
                                    elsewhere, or where the guard has nothing to find
    # raises A: y, scores           torch raises here, and the note tells of these tensors
    # entered A                     the model was entered here
    # fix A: x                      the advice tells of `x`
    # same A: reason                the loop runs on an accelerator as well

A path may begin with what only the guard of a model knows, in brackets: `[net.]fc (Linear) x`.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

LOOPS = sorted(Path(__file__).parent.joinpath("loops").glob("[a-z]*.py"))
CLAUSE = re.compile(r"(move|model|fails|explained|raises|entered|fix|same)\b([^:]*)(?:: (.*))?$")
MODULE = re.compile(
    r"(?:\[(?P<above>.*?)\])?(?P<path>[\w.]+) (?:\((?P<kind>\w+)\) )?(?P<argument>.+)"
)


@dataclass(frozen=True)
class Place:
    """The module and the argument that a message must name, and the line at which it failed."""

    above: str
    path: str
    kind: str
    argument: str
    line: int

    @classmethod
    def read(cls, text: str, line: int) -> Place:
        match = MODULE.fullmatch(text)
        assert match, f"line {line}: {text!r} names no module and argument"
        above, path, kind, argument = match.group("above", "path", "kind", "argument")
        if kind is None:  # The model itself, which has a class and no path.
            return cls("", "", path, argument, line)
        return cls(above or "", path, kind, argument, line)


class Move(NamedTuple):
    """What to take out of a source, and what is left in its place."""

    line: int
    start: int
    end: int
    left: str


@dataclass
class Mutant:
    """A loop without one of its moves, and what is to be expected of it."""

    loop: str
    letter: str
    move: Move
    fails: Place | None = None
    explained: Place | None = None
    raises: tuple[int, list[str]] | None = None
    entered: int | None = None
    fix: str | None = None
    same: str | None = None

    @property
    def name(self) -> str:
        return f"{self.loop}-{self.letter}"


@dataclass(repr=False)
class Loop:
    path: Path
    source: str  # Without its clauses, which nothing under test may read.
    models: dict[int, str] = field(default_factory=dict)
    mutants: dict[str, Mutant] = field(default_factory=dict)

    def text(self, mutant: Mutant | None = None, *, guarded: bool = False) -> str:
        """The source without the move, its models given to `_guard` where asked for."""
        text = self.source
        if mutant:
            move = mutant.move
            text = text[: move.start] + move.left + text[move.end :]
        lines = text.splitlines(keepends=True)
        if guarded:
            for line, name in self.models.items():
                lines[line - 1] = f"{lines[line - 1].rstrip()}; _guard({name})\n"
        return "".join(lines)


def read(path: Path) -> Loop:
    """The loop in this file, its mutants with all that its clauses say.

    Raises:
        AssertionError: a move has no letter, a letter no move, or a mutant no expectation.
    """
    text = path.read_text(encoding="ascii")
    clauses = list(clauses_of(text))
    loop = Loop(path, without_clauses(text))
    moves = moves_of(loop.source)
    for line, kind, subject, _ in clauses:
        if kind == "move":
            here = [move for move in moves if move.line == line]
            assert len(here) == len(subject.split()), f"{path.name}:{line}: {len(here)} moves here"
            for letter, move in zip(subject.split(), here, strict=True):
                assert letter not in loop.mutants, f"{path.name}:{line}: another {letter}"
                loop.mutants[letter] = Mutant(path.stem, letter, move)
        elif kind == "model":
            loop.models[line] = subject.strip()
    marked = {mutant.move for mutant in loop.mutants.values()}
    assert set(moves) == marked, f"{path.name}: moves without a letter"
    for line, kind, subject, said in clauses:
        for letter in subject.split() if kind not in ("move", "model") else ():
            expect(loop.mutants[letter], kind, said, line)
    for mutant in loop.mutants.values():
        require_an_expectation(mutant)
    return loop


def expect(mutant: Mutant, kind: str, said: str, line: int) -> None:
    value: Any = said
    if kind in ("fails", "explained"):
        value = Place.read(said, line)
    elif kind == "raises":
        value = line, said.split(", ")
    elif kind == "entered":
        value = line
    assert getattr(mutant, kind) is None, f"{mutant.name}: {kind} is said twice"
    setattr(mutant, kind, value)


def require_an_expectation(mutant: Mutant) -> None:
    place = mutant.fails or mutant.explained
    answers = [mutant.same, mutant.raises, place]
    assert sum(answer is not None for answer in answers) == 1, f"{mutant.name}: one of the three"
    if mutant.raises:
        mutant.fix = mutant.fix or mutant.raises[1][0]
    if place:
        known = mutant.entered and mutant.fix
        assert known, f"{mutant.name}: where was the model entered, and what helps?"


def clauses_of(text: str) -> Iterator[tuple[int, str, str, str]]:
    """The line that each clause is about, its word, the mutants and what it says of them."""
    lines = text.splitlines()
    for token in comments_of(text):
        line = token.start[0]
        while lines[line - 1].lstrip().startswith("#"):
            line += 1
        for clause in token.string.rpartition("# ")[2].split("; "):
            if match := CLAUSE.match(clause):
                yield line, match[1], match[2], match[3] or ""


def without_clauses(text: str) -> str:
    lines = text.splitlines(keepends=True)
    for token in comments_of(text):
        if CLAUSE.match(token.string.rpartition("# ")[2].split("; ")[0]):
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column].rstrip() + "\n"
    return "".join(lines)


def comments_of(text: str) -> Iterator[tokenize.TokenInfo]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token


def moves_of(text: str) -> list[Move]:
    """Every move of a source, from left to right."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def end_of(node: ast.expr | ast.keyword) -> int:
        return starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)

    found = []
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    for call in calls:
        if moved := moved_by(call):
            left = ast.get_source_segment(text, moved) or ""
            start = starts[call.lineno - 1] + call.col_offset
            found.append(Move(call.end_lineno or 0, start, end_of(call), left))
        parts: list[ast.expr | ast.keyword] = [call.func, *call.args, *call.keywords]
        before = [end_of(part) for part in parts]
        for keyword in call.keywords:
            if keyword.arg == "device" and "device" in ast.unparse(keyword.value):
                start = max(end for end in before if end < end_of(keyword))
                first = text[start] == "("
                found.append(Move(keyword.lineno, start + first, end_of(keyword), ""))
    return sorted(found, key=lambda move: (move.line, move.end))


def moved_by(call: ast.Call) -> ast.expr | None:
    """What the call moves, if it is `x.to(device)`, `x.cpu()` or `to_device(x, device)`."""
    match call.func, call.args:
        case ast.Attribute(value=moved, attr="to"), [where, *_]:
            return moved if "device" in ast.unparse(where) else None
        case ast.Attribute(value=moved, attr="cpu"), []:
            return moved
        case ast.Name(id="to_device"), [moved, _]:
            return moved
        case _:
            return None


def load(text: str, path: Path) -> ModuleType:
    """The module of this source, which lies at `path` for tracebacks to show it."""
    path.write_text(text, encoding="ascii")
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    sys.modules[path.stem] = module  # Dataclasses look themselves up.
    try:
        exec(compile(text, str(path), "exec"), vars(module))
    finally:
        del sys.modules[path.stem]
    return module

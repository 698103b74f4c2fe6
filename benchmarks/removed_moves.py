"""Scripts without one of their moves: which there are, and what devicelint makes of each."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from benchmarks.checking import Outcome, check_file, check_source, fixed
from benchmarks.checkouts import Checkout
from benchmarks.redundant import Reasons
from devicelint.finding import Finding
from devicelint.text.source import SourceFile
from devicelint.workspace.project import Project
from runtime_guard.mutation.moves import Move, dotted, moves_in

BEFORE_NUMPY = re.compile(r"\s*(?:\.\w+(?:\(\))?\s*)*\.(?:numpy|__array__)\(")
"""What follows `.cpu()` where the host needs it; elsewhere it is a matter of taste."""

TORCH = re.compile(r"torch(?:vision|audio)?(?:\.|$)")


@dataclass(frozen=True)
class Mutant:
    """A script without one of its moves.

    Attributes:
        checkout: the repository.
        file: the script, as the repository calls it.
        move: what was taken out.
        before: the script as it was.
    """

    checkout: Checkout
    file: str
    move: Move
    before: SourceFile

    @cached_property
    def source(self) -> SourceFile:
        """The script without the move; each line keeps its number."""
        return self.before.with_text(self.move.removed(self.before.text))

    def __str__(self) -> str:
        return f"{self.checkout.name}  {self.file}:{self.move}"


@dataclass(frozen=True)
class Judged:
    """What devicelint makes of a mutant.

    Attributes:
        mutant: the mutant.
        told: line, code and message of each finding.
        names_line: whether a finding names the line of the move, or one that uses what was moved.
        repaired: whether the safe fixes leave nothing to be found.
        repaired_unsafely: whether all fixes do.
        reason: why the move is redundant; empty where it is not.
    """

    mutant: Mutant
    told: tuple[tuple[int, str, str], ...]
    names_line: bool
    repaired: bool
    repaired_unsafely: bool
    reason: str = ""

    @property
    def is_found(self) -> bool:
        """Whether anything was found."""
        return bool(self.told)

    @property
    def is_harmful(self) -> bool:
        """Whether the script needs the move."""
        return not self.reason


def mutants_of(checkout: Checkout, project: Project) -> Iterator[Mutant]:
    """Yield the mutants of every script of a checkout that checks clean."""
    for path in checkout.files():
        outcome = check_file(path, project)
        if outcome.fate != "checked" or outcome.findings or outcome.source is None:
            continue
        for move in moves_to_remove(outcome.source.text):
            yield Mutant(checkout, checkout.relative(path), move, outcome.source)


def moves_to_remove(text: str) -> Iterator[Move]:
    """Yield each `.to(device)`, `.cuda()` and `.xpu()`, `.cpu()` before numpy, and `device=`."""
    try:
        moves = moves_in(text)
    except (SyntaxError, ValueError):
        return
    foreign = set(foreign_devices(ast.parse(text))) if moves else set()
    for move in moves:
        if move.kind not in ("to", "device"):
            continue
        if move.text.endswith(".cpu()") and not BEFORE_NUMPY.match(text, move.end):
            continue
        if (move.line, move.column) not in foreign:
            yield move


def foreign_devices(tree: ast.Module) -> Iterator[tuple[int, int]]:
    """Yield where `device=` is handed to what another file defines, which may do anything."""
    imported = {name for name, module in _imports(tree) if not TORCH.match(module)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and dotted(node.func).partition(".")[0] in imported:
            for keyword in node.keywords:
                if keyword.arg == "device":
                    yield keyword.lineno, keyword.col_offset + 1


def _imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield each name that an import binds, and the module that it comes from."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield from ((each.asname or each.name, module) for each in node.names)
        elif isinstance(node, ast.Import):
            for each in node.names:
                yield each.asname or each.name.partition(".")[0], each.name


def judged(mutant: Mutant, project: Project, reasons: Reasons) -> Judged:
    """Check a mutant, and fix it where there is something to fix."""
    outcome = check_source(mutant.source, project)
    move = mutant.move
    reason = reasons[mutant.file, move.line, move.column]
    told = tuple((outcome.line_of(each), each.code, each.message) for each in outcome.findings)
    return Judged(
        mutant,
        told,
        names_line=any(_names_line(mutant, outcome, finding) for finding in outcome.findings),
        repaired=bool(told) and _is_repaired(mutant.source, project, unsafe=False),
        repaired_unsafely=bool(told) and _is_repaired(mutant.source, project, unsafe=True),
        reason=reason,
    )


def _is_repaired(source: SourceFile, project: Project, *, unsafe: bool) -> bool:
    after = fixed(source, project, unsafe=unsafe)
    if after is None:
        return False
    outcome = check_source(after, project)
    return outcome.fate == "checked" and not outcome.findings


def _names_line(mutant: Mutant, outcome: Outcome, finding: Finding) -> bool:
    """Whether a finding leads to the move: to its statement, or to a use of what it moved."""
    assert outcome.source is not None
    statement = statement_at(mutant.before.text, mutant.move.line)
    position = outcome.source.position
    spans = [finding.span, *(related.span for related in finding.related)]
    spans += [edit.span for edit in (finding.fix.edits if finding.fix else ())]
    if any(position(span.start).line in statement.lines for span in spans):
        return True
    lines = map(outcome.source.line_text, outcome.lines_of(finding))
    return any(statement.names.intersection(re.findall(r"\w+", line)) for line in lines)


@dataclass(frozen=True)
class Statement:
    """The innermost statement of a line: its lines, and what it gives a value to, or moves."""

    lines: range
    names: frozenset[str]


def statement_at(text: str, line: int) -> Statement:
    """The statement that a line is part of."""
    found: ast.stmt | None = None
    for node in ast.walk(ast.parse(text)):
        # Breadth first: what comes later lies deeper.
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0):
            found = node
    if found is None:
        return Statement(range(line, line + 1), frozenset())
    match found:
        case ast.Assign():
            targets: list[ast.expr] = found.targets
        case ast.AugAssign() | ast.AnnAssign():
            targets = [found.target]
        case ast.Expr():
            targets = [found.value]
        case _:
            targets = []
    names = {_name(node) for target in targets for node in ast.walk(target)} - {"", "self"}
    last = (found.end_lineno or line) if not hasattr(found, "body") else line
    return Statement(range(found.lineno, last + 1), frozenset(names))


def _name(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def files_of(mutants: list[Judged]) -> set[Path]:
    """The scripts that mutants were made of."""
    return {mutant.mutant.checkout.folder / mutant.mutant.file for mutant in mutants}

"""What is shown of a file besides its findings: where its values are, why, and as a picture."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from functools import partial

from devicelint.config import Config
from devicelint.interpreter import Program, explore
from devicelint.interpreter.engine.budget import BudgetExceeded
from devicelint.interpreter.engine.tracing import JudgingRun, WatchingRun
from devicelint.linter.program import input_errors, program_of
from devicelint.text.source import SourceFile
from devicelint.views.graph import Chart, Charting
from devicelint.views.trace import Trace, Tracing
from devicelint.views.verdicts import Judgement, Judgements, Judging
from devicelint.views.why import Account, Explaining, Why, asked_about, line_asked_about
from devicelint.workspace.project import Project


def trace(
    source: SourceFile, project: Project | None = None, config: Config | None = None
) -> Trace:
    """Where every assigned name and every moved value of a file lives, line by line.

    Raises `CheckError` where the file is no Python that libcst can read.
    """
    lines: list[tuple[int, tuple[str, ...]]] = []
    for part in source.programs():
        program = program_of(part, project, config)
        tracing = Tracing()
        with input_errors(source):
            explore(program, tracing.listener_for)
            lines += tracing.trace(part, program.tree).lines
    return Trace(tuple(sorted(lines)))


def chart(
    source: SourceFile, project: Project | None = None, config: Config | None = None
) -> Chart:
    """Which value is where on each machine, what it was made from, and what moves it.

    Raises `CheckError` where the file is no Python that libcst can read.
    """
    parts = []
    for part in source.programs():
        program = program_of(part, project, config)
        with input_errors(source):
            charting = _charted(program)
            parts.append(charting.sights(part))
    return Chart.of(parts)


def _charted(program: Program) -> Charting:
    """What was noted on every machine; where that takes too much, on those that a check needs."""
    for everywhere in (True, False):
        charting = Charting(program.tree)
        walker = partial(WatchingRun, watched=charting.watched)
        with suppress(BudgetExceeded) if everywhere else nullcontext():
            explore(program, charting.listener_for, walker, everywhere=everywhere)
            break
    return charting


def why(
    source: SourceFile,
    line: int,
    project: Project | None = None,
    cell: int | None = None,
    config: Config | None = None,
) -> Why:
    """Why the values on a line live where they do; the line of a cell, in a notebook.

    Raises `CheckError` where the file is no Python that libcst can read, or has no such line.
    """
    line = line_asked_about(source, line, cell)
    accounts: tuple[Account, ...] = ()
    for part in source.programs():
        program = program_of(part, project, config)
        with input_errors(source):
            nodes = asked_about(line, part, program.tree)
            explaining = Explaining(nodes)
            explore(program, explaining.listener_for, partial(WatchingRun, watched=nodes))
            imported = () if project is None else project.files()
            accounts += explaining.why(line, part, program, imported).accounts
    return Why(line, accounts)


def verdicts(
    source: SourceFile,
    line: int,
    project: Project | None = None,
    cell: int | None = None,
    config: Config | None = None,
) -> Judgements:
    """What is held of the clashes on a line, reported or not; the line of a cell, in a notebook.

    Raises `CheckError` where the file is no Python that libcst can read, or has no such line.
    """
    line = line_asked_about(source, line, cell)
    clashes: tuple[Judgement, ...] = ()
    for part in source.programs():
        program = program_of(part, project, config)
        with input_errors(source):
            judging = Judging()
            explore(program, judging.listener_for, partial(JudgingRun, watched=()))
            imported = () if project is None else project.files()
            clashes += judging.judgements(line, part, program, imported).clashes
    return Judgements(line, clashes)

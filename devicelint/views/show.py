"""What is shown of a file besides its findings: where its values are, why, and as a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext, suppress
from functools import partial
from itertools import chain
from typing import TypeVar

from devicelint.config import Config
from devicelint.interpreter import Program, explore
from devicelint.interpreter.engine.budget import BudgetExceeded
from devicelint.interpreter.engine.tracing import JudgingRun, WatchingRun
from devicelint.linter.callers import Callers
from devicelint.linter.collector import Collector
from devicelint.linter.filtering import rules_for
from devicelint.linter.program import input_errors, program_of
from devicelint.text.source import SourceFile
from devicelint.views.graph import Chart, Charting
from devicelint.views.graph.chart import Sight
from devicelint.views.trace import Trace, Tracing
from devicelint.views.verdicts import Judgements, Judging
from devicelint.views.why import Explaining, Why, asked_about, line_asked_about
from devicelint.workspace.project import Project

Shown = TypeVar("Shown")


def trace(
    source: SourceFile, project: Project | None = None, config: Config | None = None
) -> Trace:
    """Where every assigned name and every moved value of a file lives, line by line.

    Raises `CheckError` where the file is no Python that libcst can read.
    """

    def show(part: SourceFile, program: Program) -> Trace:
        tracing = Tracing()
        explore(program, tracing.listener_for)
        return tracing.trace(part, program.tree)

    traces = _of_each_program(source, project, config, show)
    return Trace(tuple(sorted(chain.from_iterable(one.lines for one in traces))))


def chart(
    source: SourceFile, project: Project | None = None, config: Config | None = None
) -> Chart:
    """Which value is where on each machine, what it was made from, and what moves it.

    Raises `CheckError` where the file is no Python that libcst can read.
    """

    def show(part: SourceFile, program: Program) -> tuple[Sight, ...]:
        return _charted(program).sights(part)

    return Chart.of(_of_each_program(source, project, config, show))


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

    def show(part: SourceFile, program: Program) -> Why:
        nodes = asked_about(line, part, program.tree)
        explaining = Explaining(nodes)
        explore(program, explaining.listener_for, partial(WatchingRun, watched=nodes))
        return explaining.why(line, part, program, _imported(project))

    shown = _of_each_program(source, project, config, show)
    return Why(line, tuple(chain.from_iterable(one.accounts for one in shown)))


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
    settings = config or Config()

    def show(part: SourceFile, program: Program) -> Judgements:
        judging = Judging(Collector(rules_for(part, Config(torch_version=settings.torch_version))))
        explore(program, judging.listener_for, partial(JudgingRun, watched=()))
        known = judging.known_in(program, Callers.of(part, program, project))
        return judging.judgements(line, part, program.tree, _imported(project), known)

    shown = _of_each_program(source, project, config, show)
    return Judgements(line, tuple(chain.from_iterable(one.clashes for one in shown)))


def _of_each_program(
    source: SourceFile,
    project: Project | None,
    config: Config | None,
    show: Callable[[SourceFile, Program], Shown],
) -> list[Shown]:
    """What is shown of each program of a source; what cannot be shown is an error of the source."""
    shown = []
    for part in source.programs():
        program = program_of(part, project, config)
        with input_errors(source):
            shown.append(show(part, program))
    return shown


def _imported(project: Project | None) -> Iterable[Program]:
    return () if project is None else project.files()

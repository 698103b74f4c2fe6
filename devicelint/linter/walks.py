"""The findings of a walk: in the file that is walked, and in those that it leads to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from devicelint import profiling
from devicelint.config import Config
from devicelint.domain.values import Ref
from devicelint.finding import Finding
from devicelint.interpreter import Program, explore
from devicelint.interpreter.callers import Showing
from devicelint.linter.assumptions import met
from devicelint.linter.callers import Callers
from devicelint.linter.collector import Collector
from devicelint.linter.filtering import rules_for
from devicelint.linter.locations import File, locate_findings
from devicelint.linter.program import input_errors, program_of
from devicelint.linter.result import Met, concerns_devices
from devicelint.rules import Rule
from devicelint.text.source import SourceFile
from devicelint.workspace.project import Project, home_of


@dataclass(slots=True)
class Seen:
    """What a walk has shown besides findings.

    Attributes:
        assumed: the names of which the configuration says what they are.
        clashes: whether something clashes in other files, where this one calls them, or fails on a
            machine without an accelerator, and it chooses the machine.
    """

    assumed: list[Met] = field(default_factory=list)
    clashes: bool = False


def own_findings(
    source: SourceFile, config: Config, project: Project | None
) -> tuple[list[Finding], Seen]:
    """The findings of a file by itself, which a project remembers while nothing changes."""
    key = home_of(source), hash(source.text), config
    known = None if project is None else project.known.checked.get(key)
    if known is None:
        seen = Seen()
        known = findings(source, config, project, (), seen)[0], seen
        if project is not None:
            project.known.checked[key] = known
    return known


def findings(
    source: SourceFile,
    config: Config,
    project: Project | None,
    called: Sequence[SourceFile],
    seen: Seen,
) -> tuple[list[Finding], ...]:
    """The findings of a file, and of those whose functions it calls."""
    sources = (source, *called)
    if source.skipped or not any(map(concerns_devices, sources)):
        return tuple([] for _ in sources)
    with input_errors(source):
        rules = rules_for(source, config)
        parts = [
            _explored(part, config, project, called, rules, seen) for part in source.programs()
        ]
    return tuple([one for part in parts for one in part[index]] for index in range(len(sources)))


def _explored(
    source: SourceFile,
    config: Config,
    project: Project | None,
    called: Sequence[SourceFile],
    rules: tuple[Rule, ...],
    seen: Seen,
) -> tuple[list[Finding], ...]:
    callees = {} if project is None else _programs(called, project)
    program = replace(program_of(source, project, config), also_reported=callees)
    collector, showing = Collector(rules, adopts=config.adopts), Showing()
    with profiling.part("walk"):
        explore(program, collector.listener_for, showing.begin, collector.wanted)
    if project is not None and not (called or program.guesses):
        project.note_shown(home_of(source), program.tree, showing.shown(program))
    seen.assumed += met(program, source)
    seen.clashes |= bool(program.clashing or (program.failing and program.choosing))
    found = findings_of_walk(source, program, collector, config, project, called)
    showing.close()
    return found


def findings_of_walk(
    source: SourceFile,
    program: Program,
    collector: Collector,
    config: Config,
    project: Project | None,
    called: Sequence[SourceFile] = (),
) -> tuple[list[Finding], ...]:
    """The findings of a walk, in the file and in those whose functions it calls."""
    with profiling.part("callers"):
        reports = collector.reports(Callers.of(source, program, project))
    files = [File(source, program.tree, home_of(source))]
    if project is not None and reports:
        others = {**program.also_reported, **_editable(project)}
        others.pop(files[0].home, None)
        files += (File(SourceFile(o.text), o.tree, str(home)) for home, o in others.items())
    imported = () if project is None else project.files()
    with profiling.part("locate"):
        found = locate_findings(files, reports, imported, asks_torch=config.asks_torch)
    by_home = {file.home: findings for file, findings in zip(files, found, strict=True)}
    return tuple(by_home.get(home_of(one), []) for one in (source, *called))


def _programs(sources: Iterable[SourceFile], project: Project) -> dict[Ref, Program]:
    """Those of the files that can be read, by their homes."""
    programs = ((home, project.program(home)) for home in map(home_of, sources))
    return {home: program for home, program in programs if program is not None}


def _editable(project: Project) -> dict[Ref, Program]:
    """The files at hand that a fix of another one may change."""
    return {one.home: one for one in project.files() if one.home in project.editable}

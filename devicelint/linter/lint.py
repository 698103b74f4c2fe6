"""Check a file, fix a file: what all front ends call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from devicelint import profiling
from devicelint.config import Config
from devicelint.domain.values import Ref
from devicelint.finding import Finding
from devicelint.fixes import Approval, Fixed, fix_until_stable
from devicelint.interpreter import Program, explore
from devicelint.linter.assumptions import met
from devicelint.linter.callers import Callers
from devicelint.linter.collector import Collector
from devicelint.linter.filtering import filtered, rules_for
from devicelint.linter.locations import File, locate_findings
from devicelint.linter.program import input_errors, program_of
from devicelint.linter.result import CheckResult, Met, concerns_devices, screen
from devicelint.rules import Rule
from devicelint.text.parse import CheckError
from devicelint.text.source import SourceFile
from devicelint.workspace.project import Project, home_of

__all__ = [
    "CheckError",
    "CheckResult",
    "Fixed",
    "adopt",
    "check",
    "check_as_called",
    "findings_of_walk",
    "fix",
    "screen",
]


ReportFilter = Callable[[CheckResult], CheckResult]
"""Which of the findings of a file are to be fixed; the others may stay."""


def check(
    source: SourceFile, config: Config | None = None, project: Project | None = None
) -> CheckResult:
    """Find the device mistakes of one file; with a project, imports of its files are followed.

    Raises `CheckError` where the file is no Python that libcst can read.
    """
    config = config or Config()
    assumed: list[Met] = []
    found = _findings(source, config, project, (), assumed)[0]
    checked = filtered(source, found, config, follows_imports=project is not None)
    return replace(checked, assumed=tuple(assumed))


def check_as_called(
    source: SourceFile, called: Sequence[SourceFile], config: Config, project: Project
) -> tuple[CheckResult, ...]:
    """The device mistakes of one file, and those of others as far as it calls what they hold.

    What the functions of the others are given shows what goes wrong in them, which their own check
    does not.
    """
    found = _findings(source, config, project, called, [])
    sources = (source, *called)
    return tuple(
        filtered(*pair, config, follows_imports=True) for pair in zip(sources, found, strict=True)
    )


def fix(
    source: SourceFile,
    config: Config | None = None,
    project: Project | None = None,
    approves: Approval | None = None,
    reported: ReportFilter | None = None,
    *,
    known: CheckResult | None = None,
) -> Fixed:
    """Apply the fixes that the configuration allows until nothing changes.

    `approves` is asked about each, and may say no.  What `reported` leaves out is not fixed, and
    what is `known` of the source is not found out again.
    """
    config, hidden = config or Config(), Hidden(reported)
    suppressed: dict[str, tuple[Finding, ...]] = {}

    def found(text: SourceFile) -> tuple[Finding, ...]:
        is_known = known is not None and text is known.source
        checked = known if known and is_known else check(text, config, project)
        suppressed[text.text] = checked.suppressed
        hidden.update(checked)
        return checked.findings

    def accepts(finding: Finding) -> bool:
        return finding not in hidden.findings and is_allowed(finding, config)

    fixed = fix_until_stable(source, found, accepts, insists=config.adopts, approves=approves)
    return replace(fixed, suppressed=suppressed[fixed.after.text])


class Hidden:
    """The findings that are not reported, and therefore not fixed, as of the last check."""

    def __init__(self, reported: ReportFilter | None) -> None:
        self.findings: set[Finding] = set()
        self._reported = reported

    def update(self, checked: CheckResult) -> None:
        """Take the result of another check."""
        if self._reported is not None:
            self.findings -= {*checked.findings}
            self.findings |= {*checked.findings} - {*self._reported(checked).findings}


def adopt(
    source: SourceFile,
    config: Config | None = None,
    project: Project | None = None,
    approves: Approval | None = None,
) -> Fixed:
    """Bring a file to the device pattern: one device, and all that trains on it.

    What is in `remaining` is left to the reader: it needs what the source does not say.
    """
    return fix(source, (config or Config()).for_adoption(), project, approves)


def is_allowed(finding: Finding, config: Config) -> bool:
    """Whether a configuration allows the fix of a finding, where it has one.

    Whoever adopts a file wants it to do what it does elsewhere, too: unsafe fixes are steps of
    that, except where the file seems to be for machines with an accelerator on purpose.
    """
    if finding.fix is None:
        return False
    if config.unsafe_fixes or finding.fix.safety.value == "safe":
        return True
    return config.adopts and not finding.fix.is_meant


def _findings(
    source: SourceFile,
    config: Config,
    project: Project | None,
    called: Sequence[SourceFile],
    assumed: list[Met],
) -> tuple[list[Finding], ...]:
    """The findings of a file, and of those whose functions it calls; and what was assumed."""
    sources = (source, *called)
    if source.skipped or not any(map(concerns_devices, sources)):
        return tuple([] for _ in sources)
    with input_errors(source):
        rules = rules_for(source, config)
        parts = [
            _explored(part, config, project, called, rules, assumed) for part in source.programs()
        ]
    return tuple([one for part in parts for one in part[index]] for index in range(len(sources)))


def _explored(
    source: SourceFile,
    config: Config,
    project: Project | None,
    called: Sequence[SourceFile],
    rules: tuple[Rule, ...],
    assumed: list[Met],
) -> tuple[list[Finding], ...]:
    callees = {} if project is None else _programs(called, project)
    program = replace(program_of(source, project, config), also_reported=callees)
    collector = Collector(rules, adopts=config.adopts)
    with profiling.part("walk"):
        explore(program, collector.listener_for, wanted=collector.wanted)
    assumed += met(program, source)
    return findings_of_walk(source, program, collector, config, project, called)


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

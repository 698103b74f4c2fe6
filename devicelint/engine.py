"""Check a file, fix a file, trace a file: what all doors stand on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from devicelint.config import Config
from devicelint.explaining import Explaining, Why, asked_about
from devicelint.finding import Finding
from devicelint.fixes import Approval, Fixed, fix_until_stable
from devicelint.gathering import Gathering, located
from devicelint.interpreter import Program, explore
from devicelint.interpreter.patience import GivenUp
from devicelint.interpreter.watching import WatchingRun
from devicelint.project import Project
from devicelint.rules import Rule, chosen
from devicelint.source import SourceFile
from devicelint.syntax import CheckError, parse, too_deep
from devicelint.tracing import Trace, Tracing

__all__ = [
    "CheckError",
    "Checked",
    "Fixed",
    "Trace",
    "adopt",
    "check",
    "fix",
    "screen",
    "trace",
    "why",
]


@dataclass(frozen=True)
class Checked:
    """What was found in one file, in the order of the text."""

    source: SourceFile
    findings: tuple[Finding, ...]
    silenced: tuple[Finding, ...] = ()
    """What comments keep back."""


_CONCERNS = re.compile(rb"\btorch\b|reveal_device")


def screen(data: bytes) -> bool:
    """Whether a file can have anything to do with devices: one that never names torch has not."""
    return _CONCERNS.search(data) is not None


def check(
    source: SourceFile, config: Config | None = None, project: Project | None = None
) -> Checked:
    """Find the device mistakes of one file; with a project, imports of its files are followed.

    Raises `CheckError` where the file is no Python that libcst can read.
    """
    config = config or Config()
    kept: list[Finding] = []
    silenced: list[Finding] = []
    for finding in _findings(source, config, project):
        if config.holds_for(finding.code, finding.name, source.path):
            comments = source.suppresses(finding.span, finding.code, finding.name)
            (silenced if comments else kept).append(finding)
    return Checked(source, tuple(kept), tuple(silenced))


def fix(
    source: SourceFile,
    config: Config | None = None,
    project: Project | None = None,
    approves: Approval | None = None,
) -> Fixed:
    """Apply the fixes that the configuration allows until nothing changes.

    One that `approves` is asked about each, and may say no.
    """
    config = config or Config()
    silenced: dict[str, tuple[Finding, ...]] = {}

    def found(one: SourceFile) -> tuple[Finding, ...]:
        checked = check(one, config, project)
        silenced[one.text] = checked.silenced
        return checked.findings

    def accepts(finding: Finding) -> bool:
        return _is_allowed(finding, config)

    fixed = fix_until_stable(source, found, accepts, insists=config.adopts, approves=approves)
    return replace(fixed, silenced=silenced[fixed.after.text])


def adopt(
    source: SourceFile,
    config: Config | None = None,
    project: Project | None = None,
    approves: Approval | None = None,
) -> Fixed:
    """Bring a file to the device pattern: one device, and all that trains on it.

    What `remaining` tells is left to the reader: it needs what the source does not say.
    """
    return fix(source, (config or Config()).for_adoption(), project, approves)


def _is_allowed(finding: Finding, config: Config) -> bool:
    return finding.fix is not None and (config.unsafe_fixes or finding.fix.safety.value == "safe")


def _findings(source: SourceFile, config: Config, project: Project | None) -> list[Finding]:
    if source.skipped or not screen(source.text.encode("utf-8", "replace")):
        return []
    program = _program(source, project)
    with _told_in_one_line(source):
        return _explored(source, program, config, project)


@contextmanager
def _told_in_one_line(source: SourceFile) -> Iterator[None]:
    """A file that cannot be walked to its end is told about as one that cannot be parsed."""
    try:
        yield
    except RecursionError:
        raise too_deep(source) from None
    except GivenUp as bound:
        raise CheckError(source.path, 1, 0, f"is not checked: {bound}") from None


def _program(source: SourceFile, project: Project | None) -> Program:
    tree = parse(source) if project is None else project.tree(source)
    return Program(tree, source.text, source.path, project)


def _explored(
    source: SourceFile, program: Program, config: Config, project: Project | None
) -> list[Finding]:
    gathering = Gathering(_rules(config))
    explore(program, gathering.listener_for)
    reports = gathering.reports()
    imported = () if project is None else project.files()
    return located(source, program.tree, reports, imported) if reports else []


def _rules(config: Config) -> tuple[Rule, ...]:
    def selects(rule: type[Rule]) -> bool:
        default = rule.default or (config.adopts and rule.adopts)
        return config.selects(rule.code, rule.name, default=default)

    return chosen(selects, config.torch_version)


def trace(source: SourceFile, project: Project | None = None) -> Trace:
    """Where every assigned name and every moved value of a file lives, line by line.

    Raises `CheckError` where the file is no Python that libcst can read.
    """
    program = _program(source, project)
    tracing = Tracing()
    with _told_in_one_line(source):
        explore(program, tracing.listener_for)
        return tracing.trace(source, program.tree)


def why(source: SourceFile, line: int, project: Project | None = None) -> Why:
    """Why the values on a line live where they do.

    Raises `CheckError` where the file is no Python that libcst can read, or has no such line.
    """
    program = _program(source, project)
    if not 1 <= line <= program.lines:
        raise CheckError(source.path, line, 0, f"the file has {program.lines} lines")
    nodes = asked_about(line, source, program.tree)
    explaining = Explaining(nodes)
    with _told_in_one_line(source):
        explore(program, explaining.listener_for, partial(WatchingRun, watched=nodes))
    return explaining.why(line, source, program, () if project is None else project.files())

"""A finding in few words and plain values, for programs that pay for each word."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from devicelint.finding import FAILS_HERE
from devicelint.output.hunks import hunks
from devicelint.output.visible import printable

if TYPE_CHECKING:
    from devicelint.finding import Finding, Fix
    from devicelint.linter.result import CheckResult
    from devicelint.output.reporter import ReportContext
    from devicelint.text.source import SourceFile


@dataclass(frozen=True)
class BriefStep:
    """What happened at one place; `path` is empty where that is in the file of the finding."""

    path: str
    line: int
    cell: int | None
    message: str


@dataclass(frozen=True)
class BriefFix:
    """What would fix a finding; `diff` has hunks without context."""

    safety: str
    message: str
    diff: str


@dataclass(frozen=True)
class BriefFinding:
    """One mistake; lines and columns count from 1, and `cell` is that of a notebook."""

    path: str
    line: int
    column: int
    cell: int | None
    code: str
    name: str
    severity: str
    certainty: str
    machine: str
    message: str
    steps: tuple[BriefStep, ...]
    fix: BriefFix | None
    no_fix: str


def brief(checked: CheckResult, context: ReportContext) -> tuple[BriefFinding, ...]:
    """Return the findings of a file in the order of the text, each of them once."""
    findings = (_finding(checked.source, each, context) for each in checked.findings)
    return tuple(dict.fromkeys(findings))


def _finding(source: SourceFile, finding: Finding, context: ReportContext) -> BriefFinding:
    place = source.location(finding.span.start)
    return BriefFinding(
        path=printable(source.path),
        line=place.line,
        column=place.column + 1,
        cell=place.cell,
        code=finding.code,
        name=finding.name,
        severity=finding.severity.value,
        certainty=finding.certainty.value,
        machine=finding.machine,
        message=printable(finding.message),
        steps=tuple(_steps(source, finding)),
        fix=_fix(source, finding.fix, context) if finding.fix is not None else None,
        no_fix=_no_fix(finding),
    )


def _steps(source: SourceFile, finding: Finding) -> Iterator[BriefStep]:
    """What led to the mistake, and last where it fails, if that is another line."""
    own = source.position(finding.span.start).line
    steps = [
        BriefStep("", place.line, place.cell, printable(related.message))
        for related in dict.fromkeys(finding.related)
        for place in (source.location(related.span.start),)
        if related.message != FAILS_HERE or source.position(related.span.start).line != own
    ]
    steps += [
        BriefStep(printable(one.path), one.line, one.cell, printable(one.message))
        for one in dict.fromkeys(finding.elsewhere)
    ]
    yield from sorted(steps, key=lambda step: step.message == FAILS_HERE)


def _fix(source: SourceFile, fix: Fix, context: ReportContext) -> BriefFix:
    diff = "\n".join(hunks(source, fix, context))
    return BriefFix(fix.safety.value, printable(fix.message), diff)


def _no_fix(finding: Finding) -> str:
    if finding.fix is not None:
        return ""
    return printable(finding.unfixed) or "none is known"

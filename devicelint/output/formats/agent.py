"""The format for coding agents: all that a person is told, in as few words as it takes."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from devicelint.finding import REVEALED, InputError, Safety
from devicelint.linter.result import concerns_devices
from devicelint.output import reporter, summary
from devicelint.output.brief import BriefFinding, BriefFix, BriefStep, brief
from devicelint.output.visible import printable

if TYPE_CHECKING:
    from devicelint.linter.result import CheckResult

_HERE = re.compile(r",? here$")
"""Where a step is said to be is the line before it."""
_MOST_FILES = 4
"""A command that names more files than these names their folder instead."""
_MOST_LINES = 40
"""A fix that changes more lines than these is cut."""


class AgentReporter(reporter.Reporter):
    """Each file's findings when it is done; at the end, a summary and the next step."""

    has_summary = True

    def __init__(self, context: reporter.ReportContext) -> None:
        """Nothing was found yet."""
        super().__init__(context)
        self._files = 0
        self._passed_over = 0
        self._problems = 0
        self._found: list[CheckResult] = []
        self._findings: list[BriefFinding] = []

    def file(self, checked: CheckResult) -> str:
        """Return the findings of a file."""
        self._files += 1
        self._passed_over += not concerns_devices(checked.source)
        if not checked.findings:
            return ""
        findings = brief(checked, self.context)
        self._found.append(checked)
        self._findings += findings
        return "".join(f"{line}\n" for line in _file(findings))

    def problem(self, problem: InputError) -> str:
        """Return why a file was not checked."""
        self._problems += 1
        return f"{printable(str(problem))} [not checked]\n"

    def end(self) -> str:
        """Return how much was found, and what to do next."""
        parts = [summary.found(self._found)]
        if not parts[0] and (self._files or not self._problems):
            parts = [summary.nothing(self._files, self._passed_over)]
        if self._problems:
            parts.append(f"{summary.number(self._problems, 'file')} not checked")
        if self.context.is_on_disk and (step := _next_step(self._findings)):
            parts.append(f"next: {step}")
        return "; ".join(filter(None, parts)) + "\n"


def _file(findings: tuple[BriefFinding, ...]) -> Iterator[str]:
    """The findings of a file; a fix that several of them share is shown once."""
    shown: dict[str, str] = {}
    for finding in findings:
        yield _header(finding)
        yield from map(_step, finding.steps)
        if finding.fix is None:
            if finding.code != REVEALED:
                yield f" no fix: {finding.no_fix}"
            continue
        diff, place = finding.fix.diff, _place(finding)
        if diff and shown.setdefault(diff, place) != place:
            yield f" fix ({finding.fix.safety}): that of {shown[diff]}"
        else:
            yield from _fix(finding.fix)


def _header(finding: BriefFinding) -> str:
    about = ", ".join(filter(None, (finding.severity, finding.certainty, finding.machine)))
    place = f"{finding.path}:{_place(finding)}"
    return f"{place} {finding.code} {finding.name}: {finding.message} [{about}]"


def _place(finding: BriefFinding) -> str:
    cell = "" if finding.cell is None else f"cell {finding.cell}:line "
    return f"{cell}{finding.line}:{finding.column}"


def _step(step: BriefStep) -> str:
    cell = "" if step.cell is None else f"cell {step.cell}:line "
    path = f"{step.path}:" if step.path else ""
    return f" {path}{cell}{step.line}: {_HERE.sub('', step.message)}"


def _fix(fix: BriefFix) -> Iterator[str]:
    """A safe fix is what it changes; one that is not safe says what else it may change."""
    lines = fix.diff.splitlines()
    head = f" fix ({fix.safety})"
    if fix.safety == Safety.SAFE.value and lines:
        yield f"{head} {lines.pop(0)}"
    else:
        yield f"{head}: {fix.message}"
    if len(lines) > _MOST_LINES:
        left = len(lines) - _MOST_LINES
        lines = [*lines[:_MOST_LINES], f" ({left} more lines: devicelint --diff)"]
    yield from lines


def _next_step(findings: list[BriefFinding]) -> str:
    """The command that fixes the most, or the one that helps to do so by hand."""
    mistakes = [each for each in findings if each.code != REVEALED]
    for safety, command in (
        (Safety.SAFE, "devicelint --fix"),
        (Safety.UNSAFE, "devicelint --diff --unsafe-fixes"),
    ):
        fixable = [each for each in mistakes if each.fix and each.fix.safety == safety.value]
        if fixable:
            return f"{command} {_named([each.path for each in fixable])}"
    if not mistakes:
        return ""
    return f"devicelint explain {mistakes[0].code}"


def _named(paths: list[str]) -> str:
    """The files as a command names them, or the folder of many."""
    files = list(dict.fromkeys(paths))
    if len(files) > _MOST_FILES:
        try:
            files = [os.path.commonpath(files) or "."]
        except ValueError:  # Some are named from the root, some are not; or from other drives.
            files = files[:_MOST_FILES]
    return shlex.join(files)

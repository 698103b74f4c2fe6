"""The format for GitHub Actions: each finding an annotation of the line that it is about.

Workflow commands, one a line: `::error file=train.py,line=3::message`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from devicelint.finding import Finding, InputError, Severity
from devicelint.output import reporter
from devicelint.output.evidence import evidence
from devicelint.output.paths import named_from
from devicelint.output.visible import printable
from devicelint.output.written import Region, Written, utf16

if TYPE_CHECKING:
    from devicelint.linter.result import CheckResult

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


class GithubReporter(reporter.Reporter):
    """Each file's findings, when it is done."""

    def file(self, checked: CheckResult) -> str:
        """Return a command for every finding, and for what of the file is passed over."""
        lines = [self._problem("warning", note) for note in checked.source.notes]
        if checked.findings:
            written = Written(checked.source)
            lines += [self._finding(checked, written, finding) for finding in checked.findings]
        return "".join(lines)

    def problem(self, problem: InputError) -> str:
        """Return a command for a file that could not be checked."""
        return self._problem("error", problem)

    def _finding(self, checked: CheckResult, written: Written, finding: Finding) -> str:
        source = checked.source
        place = f"{printable(source.path)}:{source.location(finding.span.start)}"
        headline = f"{place}: {finding.code} {printable(finding.message)}"
        region = written.region(written.span(finding.span), utf16)
        where = {
            "title": f"{finding.code} {finding.name}",
            "file": named_from(self.context.root, source.path),
            **_numbers(region),
        }
        message = "\n".join((headline, *evidence(source, finding)))
        return _command(_COMMANDS[finding.severity], where, message)

    def _problem(self, command: str, problem: InputError) -> str:
        where = {"title": "devicelint", "file": named_from(self.context.root, problem.path)}
        if problem.cell is None:
            where |= {"line": str(problem.line), "col": str(problem.column + 1)}
        return _command(command, where, printable(str(problem)))


def _numbers(region: Region) -> dict[str, str]:
    """Return lines, and columns where GitHub takes them: within one line."""
    numbers = {"line": region.start_line}
    if region.start_line == region.end_line:
        numbers |= {"col": region.start_column, "endColumn": region.end_column}
    numbers["endLine"] = region.end_line
    return {name: str(number) for name, number in numbers.items()}


def _command(name: str, properties: Mapping[str, str], message: str) -> str:
    written = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{name} {written}::{_data(message)}\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")

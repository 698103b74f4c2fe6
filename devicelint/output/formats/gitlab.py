"""The format for GitLab's code quality: a list of issues, as Code Climate has them."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from devicelint.finding import Finding, InputError, Severity
from devicelint.output import reporter
from devicelint.output.ascii_json import ascii_json
from devicelint.output.evidence import evidence
from devicelint.output.identity import fingerprints
from devicelint.output.paths import named_from
from devicelint.output.reporter import UNCHECKED
from devicelint.output.visible import printable
from devicelint.output.written import Region, Written

if TYPE_CHECKING:
    from devicelint.linter.result import CheckResult

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.NOTE: "info"}
_CATEGORIES = {Severity.NOTE: "Performance"}


class GitlabReporter(reporter.Reporter):
    """One list of all findings."""

    def __init__(self, context: reporter.ReportContext) -> None:
        """Nothing was found yet."""
        super().__init__(context)
        self._issues: list[dict[str, Any]] = []

    def file(self, checked: CheckResult) -> str:
        """Keep the findings of a file for the end."""
        if checked.findings:
            written = Written(checked.source)
            path = named_from(self.context.root, checked.source.path)
            for finding, fingerprint in fingerprints(checked, path):
                location = _location(path, written.region(written.span(finding.span)))
                issue = _issue(checked, finding)
                self._issues.append({**issue, "fingerprint": fingerprint, "location": location})
        return ""

    def problem(self, problem: InputError) -> str:
        """Keep a file that could not be checked for the end."""
        path = named_from(self.context.root, problem.path)
        column = problem.column + 1
        line = problem.line if problem.cell is None else 1
        region = Region(line, column, line, column)
        identity = "\0".join((path, UNCHECKED, problem.message))
        self._issues.append(
            {
                "type": "issue",
                "check_name": UNCHECKED,
                "description": f"Not checked: {printable(problem.message)}",
                "categories": ["Bug Risk"],
                "severity": "blocker",
                "fingerprint": hashlib.sha256(identity.encode("utf-8", "replace")).hexdigest()[:32],
                "location": _location(path, region),
            }
        )
        return ""

    def end(self) -> str:
        """Return the list."""
        return ascii_json(self._issues, 2) + "\n"


def _issue(checked: CheckResult, finding: Finding) -> dict[str, Any]:
    return {
        "type": "issue",
        "check_name": finding.code,
        "description": f"{finding.code}: {printable(finding.message)}",
        "content": {"body": "\n".join(f"* {line}" for line in evidence(checked.source, finding))},
        "categories": [_CATEGORIES.get(finding.severity, "Bug Risk")],
        "severity": _SEVERITIES[finding.severity],
    }


def _location(path: str, region: Region) -> dict[str, Any]:
    """Return a place both by lines and by positions: GitLab reads the one, others the other."""
    return {
        "path": path,
        "lines": {"begin": region.start_line, "end": region.end_line},
        "positions": {
            "begin": {"line": region.start_line, "column": region.start_column},
            "end": {"line": region.end_line, "column": region.end_column},
        },
    }

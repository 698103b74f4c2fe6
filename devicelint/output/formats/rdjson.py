"""The format for reviewdog: comments on lines of a change, with what would fix them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from devicelint.finding import Edit, Finding, InputError, Severity, Span
from devicelint.output import reporter
from devicelint.output.ascii_json import ascii_json
from devicelint.output.evidence import evidence
from devicelint.output.paths import named_from
from devicelint.output.reporter import UNCHECKED
from devicelint.output.rule_help import documentation, help_uri
from devicelint.output.visible import printable
from devicelint.output.written import Region, Written, utf8
from devicelint.text.edits import apply
from devicelint.text.source import SourceFile

if TYPE_CHECKING:
    from devicelint.linter.result import CheckResult

_SEVERITIES = {Severity.ERROR: "ERROR", Severity.WARNING: "WARNING", Severity.NOTE: "INFO"}
_LINES_OF_A_SUGGESTION = 12
"""What is further apart is no suggestion: it would be a comment on half of the file."""


class RdjsonReporter(reporter.Reporter):
    """One object with all findings."""

    def __init__(self, context: reporter.ReportContext) -> None:
        """Nothing was found yet."""
        super().__init__(context)
        self._diagnostics: list[dict[str, Any]] = []

    def file(self, checked: CheckResult) -> str:
        """Keep the findings of a file for the end."""
        if checked.findings:
            written = Written(checked.source)
            self._diagnostics += [
                _diagnostic(checked, written, finding) for finding in checked.findings
            ]
        return ""

    def problem(self, problem: InputError) -> str:
        """Keep a file that could not be checked for the end."""
        start = {"line": problem.line, "column": problem.column + 1}
        place = {} if problem.cell is not None else {"range": {"start": start}}
        self._diagnostics.append(
            {
                "message": printable(str(problem)),
                "location": {"path": _path(problem.path), **place},
                "severity": "ERROR",
                "code": {"value": UNCHECKED},
            }
        )
        return ""

    def end(self) -> str:
        """Return the object."""
        document = {
            "source": {"name": "devicelint", **({"url": uri} if (uri := documentation()) else {})},
            "severity": "WARNING",
            "diagnostics": self._diagnostics,
        }
        return ascii_json(document, 2) + "\n"


def _diagnostic(checked: CheckResult, written: Written, finding: Finding) -> dict[str, Any]:
    region = written.region(written.span(finding.span), utf8)
    place = {
        "start": {"line": region.start_line, "column": region.start_column},
        "end": {"line": region.end_line, "column": region.end_column},
    }
    suggestion = _suggestion(written, finding, region)
    if suggestion and _lines(suggestion["range"]) != _lines(place):
        # reviewdog takes a suggestion for exactly the lines that are commented on.
        place = suggestion["range"]
    uri = help_uri(finding.code)
    return {
        "message": "\n".join((printable(finding.message), *evidence(checked.source, finding))),
        "location": {"path": _path(checked.source.path), "range": place},
        "severity": _SEVERITIES[finding.severity],
        "code": {"value": finding.code, **({"url": uri} if uri else {})},
        **({"suggestions": [suggestion]} if suggestion else {}),
    }


def _lines(place: dict[str, Any]) -> tuple[int, int]:
    return place["start"]["line"], place["end"]["line"]


def _suggestion(written: Written, finding: Finding, region: Region) -> dict[str, Any] | None:
    """Return all edits of a fix as whole lines, for half of a fix is none."""
    if finding.fix is None or finding.fix.elsewhere:
        return None
    file, edits = written.file, written.edits(finding.fix.edits)
    if not edits:
        return None
    first = min(region.start_line, *(file.position(edit.span.start).line for edit in edits))
    last = max(region.end_line, *(_last_line(file, edit) for edit in edits))
    if last - first >= _LINES_OF_A_SUGGESTION:
        return None
    start = file.offset(first, 0)
    has_end = last < file.lines
    end = file.offset(last + 1, 0) if has_end else len(file.text)
    moved = [
        Edit(Span(edit.span.start - start, edit.span.end - start), edit.content) for edit in edits
    ]
    text = apply(file.text[start:end], moved)
    if has_end:  # For which a line stands, too.
        text = text.removesuffix("\n").removesuffix("\r")
    return {"range": {"start": {"line": first}, "end": {"line": last}}, "text": text}


def _last_line(file: SourceFile, edit: Edit) -> int:
    """Return the last line that an edit changes: not one of which it leaves the start."""
    line, column = file.position(edit.span.end)
    leaves_whole_lines = edit.content.endswith("\n") or (
        not edit.content and file.position(edit.span.start).column == 0
    )
    is_before = column == 0 and edit.span.start < edit.span.end and leaves_whole_lines
    return line - 1 if is_before else line


def _path(path: str) -> str:
    """Return how reviewdog finds a file: from the folder in which it runs."""
    return named_from("", path)

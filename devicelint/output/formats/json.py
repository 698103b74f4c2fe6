"""The format for programs: the keys of Ruff's JSON, and what only devicelint knows."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from devicelint.finding import Edit, Elsewhere, Finding, Fix, Location, Span
from devicelint.output import reporter
from devicelint.output.ascii_json import ascii_json
from devicelint.output.rule_help import help_uri
from devicelint.text.source import SourceFile

if TYPE_CHECKING:
    from devicelint.linter.result import CheckResult


class JsonReporter(reporter.Reporter):
    """One list of all findings; with proofs, an object of which it is a part."""

    def __init__(self, context: reporter.ReportContext) -> None:
        """Nothing was found yet."""
        super().__init__(context)
        self._findings: list[dict[str, Any]] = []
        self._proofs: list[dict[str, Any]] = []

    def file(self, checked: CheckResult) -> str:
        """Keep the findings of a file for the end."""
        self._findings += entries(checked, self.context)
        return ""

    def proof(self, proof: dict[str, Any]) -> bool:
        """Keep a proof for the end."""
        self._proofs.append(proof)
        return True

    def end(self) -> str:
        """Return the list, or with a proof the object with it; with several, they are `proofs`."""
        document: object = self._findings
        if self._proofs:
            proven = (
                {"proof": self._proofs[0]} if len(self._proofs) == 1 else {"proofs": self._proofs}
            )
            document = {"findings": self._findings, **proven}
        return ascii_json(document, 2, sort_keys=True) + "\n"


def entries(checked: CheckResult, context: reporter.ReportContext) -> list[dict[str, Any]]:
    """Return the findings of a file; rows and columns count from one."""
    return [_entry(checked.source, finding, context) for finding in checked.findings]


def _entry(source: SourceFile, finding: Finding, context: reporter.ReportContext) -> dict[str, Any]:
    return {
        "cell": source.location(finding.span.start).cell,
        "certainty": finding.certainty.value,
        "code": finding.code,
        "filename": source.path if source.path == "-" else os.path.abspath(source.path),
        "fix": _fix(source, finding.fix, context) if finding.fix is not None else None,
        "machine": finding.machine,
        "message": finding.message,
        "name": finding.name,
        "noqa_row": _last_row(source, finding.span),
        "related": [
            {
                "message": related.message,
                **_cell(source, related.span),
                **_location(source, related.span),
            }
            for related in finding.related
        ]
        + [_elsewhere(place) for place in finding.elsewhere],
        "severity": finding.severity.value,
        **({"unfixed": finding.unfixed} if finding.unfixed else {}),
        "url": help_uri(finding.code),
        **_location(source, finding.span),
    }


def _elsewhere(place: Elsewhere) -> dict[str, Any]:
    """Return a place in another file, which has a name of its own."""
    return {
        "filename": os.path.abspath(place.path),
        "location": _place(place.location),
        "message": place.message,
        **({} if place.cell is None else {"cell": place.cell}),
    }


def _fix(source: SourceFile, fix: Fix, context: reporter.ReportContext) -> dict[str, Any] | None:
    """Return all edits of a fix, or nothing: half of them are no fix."""
    edits = [_edit(source, edit) for edit in fix.edits]
    for changed in fix.elsewhere:
        other = context.read(changed.path)
        if other is None:
            return None
        edits += [{"filename": changed.path, **_edit(other, edit)} for edit in changed.edits]
    return {"applicability": fix.safety.value, "edits": edits, "message": fix.message}


def _edit(source: SourceFile, edit: Edit) -> dict[str, Any]:
    return {"content": edit.content, **_cell(source, edit.span), **_location(source, edit.span)}


def _location(source: SourceFile, span: Span) -> dict[str, dict[str, int]]:
    return {
        "location": _place(source.location(span.start)),
        "end_location": _place(source.location(span.end)),
    }


def _place(location: Location) -> dict[str, int]:
    return {"row": location.line, "column": location.column + 1}


def _cell(source: SourceFile, span: Span) -> dict[str, int]:
    """Return the cell of a place that may be in another one than its finding."""
    cell = source.location(span.start).cell
    return {} if cell is None else {"cell": cell}


def _last_row(source: SourceFile, span: Span) -> int:
    """Return the line where a comment would suppress the finding."""
    first, last = source.position(span.start), source.position(span.end)
    ends_before_line = last.column == 0 and last.line > first.line
    return source.location_of_line(last.line - ends_before_line, 0).line

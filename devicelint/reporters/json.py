"""The format for programs: the keys of Ruff's JSON, and what only devicelint knows."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from devicelint.finding import Elsewhere, Finding, Fix, Location, Span
from devicelint.source import SourceFile

if TYPE_CHECKING:
    from devicelint.checked import Checked


def render(files: Iterable[Checked], proofs: Sequence[dict[str, Any]] = ()) -> str:
    """Return the findings of all files as one list; rows and columns count from one.

    With a proof, the list and the proof are the two parts of an object; with several, `proofs`.
    """
    entries = [_entry(checked.source, finding) for checked in files for finding in checked.findings]
    # ASCII only: the terminal's encoding must not decide whether the output is JSON.
    document: object = entries
    if proofs:
        proven = {"proof": proofs[0]} if len(proofs) == 1 else {"proofs": proofs}
        document = {"findings": entries, **proven}
    return json.dumps(document, indent=2, sort_keys=True) + "\n"


def _entry(source: SourceFile, finding: Finding) -> dict[str, Any]:
    return {
        "cell": source.location(finding.span.start).cell,
        "certainty": finding.certainty.value,
        "code": finding.code,
        "filename": source.path if source.path == "-" else os.path.abspath(source.path),
        "fix": _fix(source, finding.fix) if finding.fix is not None else None,
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
        "url": None,
        **_location(source, finding.span),
    }


def _elsewhere(place: Elsewhere) -> dict[str, Any]:
    """Return a place in another file, which has a name of its own."""
    return {
        "filename": os.path.abspath(place.path),
        "location": {"row": place.line, "column": place.column + 1},
        "message": place.message,
    }


def _fix(source: SourceFile, fix: Fix) -> dict[str, Any]:
    return {
        "applicability": fix.safety.value,
        "edits": [
            {"content": edit.content, **_cell(source, edit.span), **_location(source, edit.span)}
            for edit in fix.edits
        ],
        "message": fix.message,
    }


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
    """Return the line where a comment would silence the finding."""
    first, last = source.position(span.start), source.position(span.end)
    ends_before_line = last.column == 0 and last.line > first.line
    return source.location_of_line(last.line - ends_before_line, 0).line

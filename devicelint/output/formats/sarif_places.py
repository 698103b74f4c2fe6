"""Places as SARIF has them: URIs of files, and regions of these."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from devicelint.finding import Edit, Elsewhere, InputError, Span
from devicelint.output.paths import named_from
from devicelint.output.reporter import ReportContext
from devicelint.output.written import Written, utf16
from devicelint.text.source import SourceFile

_ROOT = "%SRCROOT%"


def base_ids(context: ReportContext) -> dict[str, Any]:
    """Return the folder that relative URIs start from."""
    return {_ROOT: {"uri": Path(os.path.abspath(context.root)).as_uri().rstrip("/") + "/"}}


class SarifPlaces:
    """The places of one file."""

    def __init__(self, source: SourceFile, context: ReportContext) -> None:
        """Look up what the file says."""
        self.source = source
        self.context = context
        self.written = Written(source)
        self.name = named_from(context.root, source.path)

    @classmethod
    def of_problem(cls, problem: InputError, context: ReportContext) -> dict[str, Any]:
        """Return the place of a problem; of that in a notebook, the notebook."""
        place = {"artifactLocation": _artifact(named_from(context.root, problem.path))}
        if problem.cell is not None:
            return place
        return {
            **place,
            "region": {"startLine": problem.line, "startColumn": problem.column + 1},
        }

    def physical(self, span: Span, *, quoted: bool = False) -> dict[str, Any]:
        """Return a place of the Python, with what it says where that is asked for."""
        region = self.region(span)
        if quoted:
            where = self.written.span(span)
            region["snippet"] = {"text": self.written.file.text[where.start : where.end]}
        return {"artifactLocation": _artifact(self.name), "region": region}

    def physical_elsewhere(self, place: Elsewhere) -> dict[str, Any]:
        """Return a place of another file."""
        location = {"artifactLocation": _artifact(named_from(self.context.root, place.path))}
        if place.cell is not None:
            return location
        other = self.context.read(place.path)
        before = other.line_text(place.line)[: place.column] if other else " " * place.column
        return {**location, "region": {"startLine": place.line, "startColumn": 1 + utf16(before)}}

    def region(self, span: Span) -> dict[str, Any]:
        """Return a part of the Python as a part of the file."""
        return self._region(self.written.span(span))

    def change(self, edits: Sequence[Edit]) -> dict[str, Any]:
        """Return what edits of the Python change in the file."""
        replacements = [
            {
                "deletedRegion": self._region(edit.span),
                "insertedContent": {"text": edit.content},
            }
            for edit in self.written.edits(edits)
        ]
        return {"artifactLocation": _artifact(self.name), "replacements": replacements}

    def _region(self, span: Span) -> dict[str, Any]:
        region = self.written.region(span, utf16)
        return {
            "startLine": region.start_line,
            "startColumn": region.start_column,
            "endLine": region.end_line,
            "endColumn": region.end_column,
        }


def _artifact(name: str) -> dict[str, str]:
    if (path := Path(name)).is_absolute():
        return {"uri": path.as_uri()}
    base = {} if name == "-" else {"uriBaseId": _ROOT}
    return {"uri": quote(os.fsencode(name)), **base}

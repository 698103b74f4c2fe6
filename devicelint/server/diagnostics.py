"""Findings as an editor shows them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from lsprotocol.types import (
    CodeDescription,
    Diagnostic,
    DiagnosticRelatedInformation,
    DiagnosticSeverity,
    DiagnosticTag,
    Location,
    Position,
    Range,
)

import devicelint
from devicelint.finding import Elsewhere, Finding, InputError, Severity, Span
from devicelint.output import internal_error
from devicelint.output.evidence import condition
from devicelint.output.rule_help import help_uri
from devicelint.server.analysis import DocumentAnalysis
from devicelint.server.open_documents import OpenDocument
from devicelint.suppression.unused import CODE as UNUSED

SOURCE = "devicelint"
SEVERITIES = {
    Severity.ERROR: DiagnosticSeverity.Error,
    Severity.WARNING: DiagnosticSeverity.Warning,
    Severity.NOTE: DiagnosticSeverity.Information,
}


def diagnostics(
    analysis: DocumentAnalysis, *, shows_problems: bool = True
) -> dict[str, list[Diagnostic]]:
    """What is to be shown of a document, by the URIs of its parts."""
    shown: dict[str, list[Diagnostic]] = {part.uri: [] for part in analysis.document.parts()}
    for finding in analysis.shown():
        place = analysis.document.location(finding.span)
        shown[place.uri].append(_diagnostic(finding, place.range, analysis.document))
    for problem in _problems(analysis) if shows_problems else ():
        place = _place(problem, analysis.document)
        shown[place.uri].append(
            Diagnostic(
                place.range, problem.message, severity=DiagnosticSeverity.Error, source=SOURCE
            )
        )
    return shown


def _diagnostic(finding: Finding, place: Range, document: OpenDocument) -> Diagnostic:
    when = condition(finding)
    return Diagnostic(
        place,
        f"{finding.message}\n({when})" if when else finding.message,
        severity=SEVERITIES[finding.severity],
        code=finding.code,
        code_description=page_of(finding),
        source=SOURCE,
        tags=[DiagnosticTag.Unnecessary] if finding.code == UNUSED else None,
        related_information=[*_related(finding, document)] or None,
        data={"name": finding.name, "fixable": finding.fix is not None},
    )


def page_of(finding: Finding) -> CodeDescription | None:
    """Where the page of a rule is to be read; that of a plug-in's rule may be nowhere."""
    uri = help_uri(finding.code)
    page = _PAGES / f"{finding.name.replace('-', '_')}.md"
    if uri is None and page.is_file():
        uri = page.as_uri()
    return None if uri is None else CodeDescription(uri)


_PAGES = Path(devicelint.__file__).resolve().parent / "rules"


def _related(finding: Finding, document: OpenDocument) -> Iterator[DiagnosticRelatedInformation]:
    for related in finding.related:
        yield DiagnosticRelatedInformation(document.location(related.span), related.message)
    for place in finding.elsewhere:
        yield DiagnosticRelatedInformation(location_of(place), place.message)


def location_of(place: Elsewhere) -> Location:
    """A place of another file: of the beginning of a line, where its text is not at hand."""
    start = Position(place.line - 1, place.column)
    return Location(uri_of(place.path), Range(start, start))


def uri_of(path: str) -> str:
    """The URI of a file."""
    return Path(os.path.abspath(path)).as_uri()


def _problems(analysis: DocumentAnalysis) -> Iterator[InputError]:
    if analysis.problem is not None:
        yield analysis.problem
    try:
        yield from analysis.document.source.notes
    except InputError:  # It is the problem.
        return


def _place(problem: InputError, document: OpenDocument) -> Location:
    """The rest of the line where a document cannot be read."""
    if problem.message.startswith(internal_error.NAME):
        return document.location(Span(0, 0))
    part = document.part_of(problem.cell)
    start = part.lines.offset_of(problem.line, problem.column)
    return Location(part.uri, part.lines.range(Span(start, part.lines.end_of_line(start))))

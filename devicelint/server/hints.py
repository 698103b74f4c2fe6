"""What is shown without being asked: the device beside each assigned tensor or module."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol.types import InlayHint, InlayHintKind, Range

from devicelint.server.analysis import DocumentAnalysis
from devicelint.server.hovers import markup_of


def inlay_hints(analysis: DocumentAnalysis, uri: str, wanted: Range) -> Iterator[InlayHint]:
    """The hints of a file or cell, as far as they stand in the range that is in view."""
    first, last = wanted.start.line, wanted.end.line
    for mark in analysis.marks():
        place = analysis.document.location(mark.subject)
        if place.uri != uri or not first <= place.range.end.line <= last:
            continue
        yield InlayHint(
            place.range.end,
            mark.text,
            kind=InlayHintKind.Type if mark.text.startswith(":") else None,
            tooltip=markup_of(analysis.document, mark.whereabouts),
        )

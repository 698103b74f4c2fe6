"""What is shown where the pointer rests, and where a value was moved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from lsprotocol.types import Hover, Location, MarkupContent, MarkupKind, Position

from devicelint.finding import Elsewhere, Span
from devicelint.server.analysis import DocumentAnalysis
from devicelint.server.diagnostics import location_of
from devicelint.server.open_documents import OpenDocument

if TYPE_CHECKING:
    from devicelint.views.editor_snapshot import Whereabouts


def hover(analysis: DocumentAnalysis, uri: str, position: Position) -> Hover | None:
    """The device of the value at a position, on each machine, and how it came there."""
    values = _at(analysis, uri, position)
    if not values:
        return None
    text = markup_of(analysis.document, values)
    return Hover(text, analysis.document.location(values[0].span).range)


def moves(analysis: DocumentAnalysis, uri: str, position: Position) -> list[Location]:
    """Where the value at a position was put on its device: the last step on each machine."""
    found: dict[tuple[str, int, int], Location] = {}
    for one in _at(analysis, uri, position):
        for step in reversed(one.steps):
            if not step.message.startswith("handed to"):
                place = _location(analysis.document, step)
                start = place.range.start
                found[place.uri, start.line, start.character] = place
                break
    return list(found.values())


def markup_of(document: OpenDocument, whereabouts: Iterable[Whereabouts]) -> MarkupContent:
    """Where a value is, in Markdown."""
    return MarkupContent(MarkupKind.Markdown, "\n\n".join(_paragraphs(document, whereabouts)))


def _at(analysis: DocumentAnalysis, uri: str, position: Position) -> tuple[Whereabouts, ...]:
    offset = analysis.document.offset(uri, position)
    return () if offset is None else analysis.at(offset)


def _paragraphs(document: OpenDocument, whereabouts: Iterable[Whereabouts]) -> Iterator[str]:
    for one in whereabouts:
        where = " and ".join(one.machines) or "on every machine"
        lines = [f"**{one.device}** — {where}"]
        lines += [f"- {_linked(document, step)}" for step in one.steps]
        yield "\n".join(lines)


def _linked(document: OpenDocument, step: Elsewhere) -> str:
    place = _location(document, step)
    line = place.range.start.line + 1
    name = "line" if _is_here(document, step) else f"{step.path}, line"
    cell = "" if step.cell is None else f" of cell {step.cell}"
    # What names a cell ends in a fragment already.
    target = place.uri if "#" in place.uri else f"{place.uri}#L{line}"
    return f"[{name} {line}{cell}]({target}): {step.message}"


def _is_here(document: OpenDocument, step: Elsewhere) -> bool:
    return step.path == document.source.path


def _location(document: OpenDocument, step: Elsewhere) -> Location:
    if not _is_here(document, step):
        return location_of(step)
    part = document.part_of(step.cell)
    start = part.lines.offset_of(step.line, step.column)
    return Location(part.uri, part.lines.range(Span(start, start)))

"""From what rules say about fixes to edits of the text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import libcst as cst

from devicelint.finding import Edit, Fix, Span
from devicelint.fixes.change import Rewrite
from devicelint.fixes.device_style import by_accelerator
from devicelint.fixes.layout import Layout, NotFixable
from devicelint.fixes.preamble import DefineDevice
from devicelint.fixes.selection import may_be_shared
from devicelint.fixes.suites import statement_nodes
from devicelint.text.documents import Unwritable
from devicelint.text.positions import locate
from devicelint.text.source import SourceFile


def sites(rewrites: Sequence[Rewrite], module: cst.Module) -> Iterator[cst.CSTNode]:
    """The nodes that `resolve` needs the places of."""
    for rewrite in rewrites:
        for change in rewrite.changes:
            yield from change.sites()
    if any(change.looks_around for rewrite in rewrites for change in rewrite.changes):
        yield from statement_nodes(module)


def resolve(
    rewrites: Sequence[Rewrite],
    module: cst.Module,
    source: SourceFile,
    spans: Mapping[cst.CSTNode, Span] | None = None,
    *,
    asks_torch: bool = False,
) -> tuple[Fix | None, ...]:
    """The fix of each rewrite; None for one that cannot be made where it is asked for.

    `spans`, where given, are the places of at least `sites(rewrites, module)`. A device is chosen
    by its type, or, where the fixes are to ask torch, by `torch.accelerator`.
    """
    if spans is None:
        spans = locate(module, source, sites(rewrites, module))
    layout = Layout(module, source.text, source.newline, spans, _first_use(rewrites, spans))
    fixes = (_resolved(rewrite, layout, asks_torch) for rewrite in rewrites)
    return tuple(fix and _fitted(fix, source) for fix in fixes)


def _fitted(fix: Fix, source: SourceFile) -> Fix | None:
    """The fix in a file that holds more than Python; None where it cannot be written there."""
    if source.document is None:
        return fix
    try:
        return replace(fix, edits=source.document.fitted(fix.edits))
    except Unwritable:
        return None


def _first_use(rewrites: Iterable[Rewrite], spans: Mapping[cst.CSTNode, Span]) -> int | None:
    """Where the first of the fixes that define a name puts code that may use it."""
    return min(
        (
            spans[site].start
            for rewrite in rewrites
            if any(isinstance(change, DefineDevice) for change in rewrite.changes)
            for change in rewrite.changes
            for site in change.sites()
        ),
        default=None,
    )


def _resolved(rewrite: Rewrite, layout: Layout, asks_torch: bool) -> Fix | None:
    edits: list[Edit] = []
    try:
        for change in dict.fromkeys(rewrite.changes):
            for one in change.edits(layout):
                edit = by_accelerator(one) if asks_torch else one
                if edit not in edits or not may_be_shared(edit):
                    edits.append(edit)
    except NotFixable:
        return None
    # A stable order: insertions at one place stay in that of the changes.
    ordered = tuple(sorted(edits, key=lambda edit: edit.span))
    if any(one.span.overlaps(other.span) for one, other in pairwise(ordered)):
        return None
    return Fix(
        rewrite.message,
        ordered,
        rewrite.safety,
        rewrite.begins,
        rewrite.uncovers,
        rewrite.is_meant,
    )

"""Which fixes can be made together, and what they make of a text.

A fix that does not get on with one chosen before it waits: once that one is made, the file is
checked again and the finding, if it is still there, brings its fix anew.
"""

from __future__ import annotations

from collections.abc import Iterable

from devicelint.finding import Edit, Finding


def select(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Those of `findings` whose fixes can be made at once, the first ones first."""
    chosen: list[Finding] = []
    edits: set[Edit] = set()
    for finding in findings:
        if finding.fix is None or not finding.fix.edits:
            continue
        if all(_get_on(edit, other) for edit in finding.fix.edits for other in edits):
            chosen.append(finding)
            edits.update(finding.fix.edits)
    return tuple(chosen)


def edits_of(findings: Iterable[Finding]) -> tuple[Edit, ...]:
    """The edits of fixes that get on, in their order; one that several fixes share comes once."""
    merged: dict[Edit, int] = {}
    for finding in findings:
        edits = finding.fix.edits if finding.fix else ()
        for edit in edits:
            merged[edit] = max(merged.get(edit, 0), edits.count(edit))
    repeated = [edit for edit, count in merged.items() for _ in range(count)]
    return tuple(sorted(repeated, key=lambda edit: edit.span))


def may_be_shared(edit: Edit) -> bool:
    """Whether an edit made for two reasons is made once.

    Half of a pair of parentheses is not: `a + b + c` needs two of them at the same place.
    """
    return all(edit.content.count(a) == edit.content.count(b) for a, b in ("()", "[]", "{}"))


def _get_on(edit: Edit, other: Edit) -> bool:
    """Whether two fixes may make these edits at once."""
    if edit == other:
        return may_be_shared(edit)
    if _inserts(edit) and _inserts(other):
        return edit.span != other.span or _in_any_order(edit, other)
    if _inserts(edit) or _inserts(other):
        return edit.span.end < other.span.start or other.span.end < edit.span.start
    return not edit.span.overlaps(other.span)


def _inserts(edit: Edit) -> bool:
    return edit.span.start == edit.span.end


def _in_any_order(*edits: Edit) -> bool:
    """Lines are put beside lines, and arguments beside arguments; trailers are not.

    One argument has one value: `device=first` does not get on with `device=second`.
    """
    names = [edit.content.partition("=")[0] for edit in edits]
    if all(edit.content.startswith(",") for edit in edits):
        return len(set(names)) == len(names)
    return all(
        edit.content.endswith(("\n", "\r")) or edit.content.startswith(("\n", "\r"))
        for edit in edits
    )

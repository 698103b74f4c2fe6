"""The states of a file between rounds of fixes, and what speaks against a state."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from devicelint.finding import Edit, Finding, Safety, Span
from devicelint.suppression.unused import CODE as UNUSED
from devicelint.text.source import SourceFile


@dataclass(frozen=True)
class FixState:
    """A text, its findings, and what led to it."""

    source: SourceFile
    findings: tuple[Finding, ...]
    applied: tuple[Finding, ...] = ()
    places: tuple[Span, ...] = ()
    """Where in the first text the findings stood that `applied` fixed."""
    rounds: tuple[tuple[Edit, ...], ...] = ()
    """The edits that were made, one round after the other."""

    def then(
        self,
        source: SourceFile,
        findings: tuple[Finding, ...],
        made: Sequence[Finding],
        edits: tuple[Edit, ...],
    ) -> FixState:
        """The state after one more round."""
        places = (self.origin(each.span) for each in made)
        return FixState(
            source,
            findings,
            (*self.applied, *made),
            (*self.places, *places),
            (*self.rounds, edits),
        )

    def origin(self, span: Span, since: int = 0) -> Span:
        """Where `span` was before the rounds from number `since` on."""
        for edits in reversed(self.rounds[since:]):
            span = _origin(span, edits)
        return span


def objection(before: FixState, applied: Sequence[Finding], after: FixState) -> str:
    """Why `applied` do not all help: one is not gone, or something is there that was not.

    A finding is the same one as before where its code and place are, or its code and wording.
    """
    origins = {each: _origin(each.span, after.rounds[-1]) for each in after.findings}
    places = Counter((finding.code, finding.span) for finding in before.findings)
    fixed = Counter((finding.code, finding.span) for finding in applied)
    left = Counter((finding.code, origins[finding]) for finding in after.findings)
    if any(left[place] > count - fixed[place] for place, count in places.items()):
        return "it would not remove the finding"
    kept = places & left
    was = Counter(wording(each) for each in before.findings if not kept[each.code, each.span])
    moved = Counter(
        wording(each) for each in after.findings if not places[each.code, origins[each]]
    )
    return new_finding(before, after, moved - (was - Counter(map(wording, applied))))


def new_finding(before: FixState, after: FixState, new: Counter[tuple[str, str]]) -> str:
    """What is found after fixes that was not before, with the line to which it belongs.

    A comment that has nothing to suppress any more does not count, nor does what is noted of the
    program as a whole, where it was so before, or where an unsafe fix makes it so.
    """
    made = after.applied[len(before.applied) :]
    is_noted = any(each.is_of_program for each in before.findings) or not all(map(_is_safe, made))
    for finding in after.findings:
        if finding.code == UNUSED or (finding.is_of_program and is_noted):
            continue
        if new[wording(finding)]:
            place = after.origin(finding.span, since=len(before.rounds))
            location = before.source.location(place.start)
            return f"it would introduce {finding.code} on line {location.line_text}"
    return ""


def _is_safe(finding: Finding) -> bool:
    return finding.fix is not None and finding.fix.safety is Safety.SAFE


def wording(finding: Finding) -> tuple[str, str]:
    """The finding apart from where it is."""
    return finding.code, re.sub(r"\blines? \d+", "line", finding.message)


def _origin(span: Span, edits: Sequence[Edit]) -> Span:
    """Where `span` of the edited text was before; what was put in has the place of its edit."""
    start, end = span.start, span.end
    shift = 0
    before_start = before_end = None
    for edit in edits:
        begin = edit.span.start + shift
        shift += len(edit.content) - (edit.span.end - edit.span.start)
        finish = edit.span.end + shift
        if before_start is None and start < finish:
            before_start = edit.span.start if start >= begin else start - (begin - edit.span.start)
        if before_end is None and end <= finish:
            before_end = edit.span.end if end > begin else end - (begin - edit.span.start)
    return Span(
        start - shift if before_start is None else before_start,
        end - shift if before_end is None else before_end,
    )

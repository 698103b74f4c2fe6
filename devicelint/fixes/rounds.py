"""Fixing a file in rounds, each of them checked, until there is nothing left to fix."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from devicelint.finding import Edit, Finding, InputError, Span
from devicelint.fixes.selection import apply, edits_of, select
from devicelint.source import SourceFile

Check = Callable[[SourceFile], tuple[Finding, ...]]

MAX_ROUNDS = 50


@dataclass(frozen=True)
class Fixed:
    """What became of a file."""

    before: SourceFile
    after: SourceFile
    applied: tuple[Finding, ...] = ()
    """The findings whose fixes were made, at their places in the text of their round."""
    rolled_back: tuple[Finding, ...] = ()
    """The findings of `after` whose fixes would not have helped, or would have done harm."""
    remaining: tuple[Finding, ...] = ()
    """All findings of `after`."""


def fix_until_stable(
    source: SourceFile,
    check: Check,
    accepts: Callable[[Finding], bool],
    max_rounds: int = MAX_ROUNDS,
    *,
    insists: bool = False,
) -> Fixed:
    """Makes all accepted fixes that help, and checks the file after each round.

    A fix helps where the file can be checked after it, its finding is gone, and there is none
    that was not there before; one that begins something, together with the fixes that it calls
    for.  One that does not help is rolled back.  What was rolled back is tried again once other
    fixes have changed the file, so that fixing the result changes nothing.

    One that `insists` makes each fix that begins something whatever is found after it: what no
    other fix mends then remains.
    """
    now = _State(source, check(source))
    seen = {source.text}
    applied: list[Finding] = []
    refused: set[Finding] = set()
    while len(seen) <= max_rounds:
        candidates = (each for each in now.findings if accepts(each) and each not in refused)
        chosen = select(candidates)
        if not chosen:
            break
        kept, after = _Round(now, check, accepts, seen, insists).try_all(chosen)
        if kept:
            applied += (*kept, *after.also)
            refused, now = set(), after
            seen.add(now.source.text)
        else:
            refused.update(chosen)
    rolled_back = tuple(finding for finding in now.findings if finding in refused)
    return Fixed(source, now.source, tuple(applied), rolled_back, now.findings)


@dataclass(frozen=True)
class _State:
    source: SourceFile
    findings: tuple[Finding, ...]
    also: tuple[Finding, ...] = ()
    """The findings whose fixes belonged to one that began."""


@dataclass(frozen=True)
class _Round:
    """Tries fixes on one text."""

    before: _State
    check: Check
    accepts: Callable[[Finding], bool]
    seen: set[str]
    """The texts that there have been: none of them may come back."""
    insists: bool = False

    def try_all(self, chosen: Sequence[Finding]) -> tuple[tuple[Finding, ...], _State]:
        """The fixes of `chosen` that help, and what they make of the file."""
        if self.insists:
            first = tuple(each for each in chosen if each.fix is not None and each.fix.begins)
            begun = self._begun(first) if first else None
            if begun is not None:
                return first, begun
        return self._add((), self.before, chosen)

    def _begun(self, findings: Sequence[Finding]) -> _State | None:
        """The file after fixes that begin something; None where it cannot be checked then."""
        text = apply(self.before.source.text, edits_of(findings))
        if text in self.seen:
            return None
        try:
            source = self.before.source.with_text(text)
            return _State(source, self.check(source))
        except InputError:
            return None

    def _add(
        self, kept: tuple[Finding, ...], state: _State, more: Sequence[Finding]
    ) -> tuple[tuple[Finding, ...], _State]:
        """Adds to the fixes that are kept as many as help, by halves."""
        together = (*kept, *more)
        after = self._after(together)
        if after is not None:
            return together, after
        if len(more) == 1:
            return kept, state
        half = len(more) // 2
        return self._add(*self._add(kept, state, more[:half]), more[half:])

    def _after(self, findings: Sequence[Finding]) -> _State | None:
        """The file after the fixes of `findings`; None where they do not all help."""
        edits = edits_of(findings)
        text = apply(self.before.source.text, edits)
        if text in self.seen:
            return None
        try:
            source = self.before.source.with_text(text)
            found = self.check(source)
        except InputError:
            return None
        if _mends(self.before.findings, findings, found, edits):
            return _State(source, found)
        if len(findings) == 1 and findings[0].fix is not None and findings[0].fix.begins:
            return self._after_all(source, findings[0])
        return None

    def _after_all(self, source: SourceFile, first: Finding) -> _State | None:
        """The file after a fix and those that it calls for; None where anything new is left."""
        fixed = fix_until_stable(source, self.check, self.accepts)
        was = Counter(map(_wording, self.before.findings)) - Counter([_wording(first)])
        if fixed.after.text in self.seen or Counter(map(_wording, fixed.remaining)) - was:
            return None
        return _State(fixed.after, fixed.remaining, fixed.applied)


def _mends(
    before: Sequence[Finding],
    applied: Sequence[Finding],
    after: Sequence[Finding],
    edits: Sequence[Edit],
) -> bool:
    """Whether `applied` are gone, and nothing is there that was not.

    A finding is the same one as before where its code and place are, or its code and wording.
    """
    places = Counter((finding.code, finding.span) for finding in before)
    mended = Counter((finding.code, finding.span) for finding in applied)
    left = Counter((finding.code, _origin(finding.span, edits)) for finding in after)
    if any(left[place] > count - mended[place] for place, count in places.items()):
        return False
    kept = places & left
    was = Counter(_wording(each) for each in before if not kept[each.code, each.span])
    moved = Counter(
        _wording(each) for each in after if not places[each.code, _origin(each.span, edits)]
    )
    return not moved - (was - Counter(map(_wording, applied)))


def _wording(finding: Finding) -> tuple[str, str]:
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

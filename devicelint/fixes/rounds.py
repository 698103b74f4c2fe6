"""Fixing a file in rounds, each of them checked, until there is nothing left to fix."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from devicelint.finding import Edit, Finding, InputError, Span
from devicelint.fixes.bundle import JoinedFiles
from devicelint.fixes.selection import edits_of, select
from devicelint.suppression.unused import CODE as UNUSED
from devicelint.text.edits import apply
from devicelint.text.source import SourceFile

Check = Callable[[SourceFile], tuple[Finding, ...]]

MAX_ROUNDS = 50

FOLLOWED = 8
"""So many rounds of fixes are made of what a fix brings, before it is seen whether all is well."""


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
    places: tuple[Span, ...] = ()
    """Where in `before` that stood which `applied` fixed."""
    reasons: Mapping[Finding, str] = field(default_factory=dict)
    """Why the fixes of findings of `after` were not made, though they were allowed."""
    suppressed: tuple[Finding, ...] = ()
    """What comments of `after` suppress."""


class Approval(Protocol):
    """Somebody who is asked about every fix, once it is known to help."""

    over: bool
    """Whether nothing more is to be fixed."""

    def __call__(self, fixes: Sequence[Finding], before: SourceFile, after: SourceFile) -> bool:
        """Whether to make these fixes, which turn one text into the other."""


DECLINED = "you said no to its fix"
QUIT = "you quit before it"


def fix_until_stable(
    source: SourceFile,
    check: Check,
    accepts: Callable[[Finding], bool],
    max_rounds: int = MAX_ROUNDS,
    *,
    insists: bool = False,
    approves: Approval | None = None,
) -> Fixed:
    """Makes all accepted fixes that help, and checks the file after each round.

    A fix helps where the file can be checked after it, its finding is gone, and there is none
    that was not there before; one that begins something, together with the fixes that it calls
    for.  One that does not help is rolled back.  What was rolled back is tried again once other
    fixes have changed the file, so that fixing the result changes nothing.

    One that `insists` makes each fix that begins something whatever is found after it: what no
    other fix fixes then remains, and any other fix together with those that it calls for.  One
    that `approves` is asked about one fix after the other, and
    not again about one declined.
    """
    first = _State(source, check(source))
    now, refused = _Fixing(check, accepts, max_rounds, insists, approves).stable(first)
    reasons = {each: refused[each] for each in now.findings if each in refused}
    rolled_back = tuple(each for each, why in reasons.items() if why not in (DECLINED, QUIT))
    places = tuple(now.places)
    return Fixed(source, now.source, now.applied, rolled_back, now.findings, places, reasons)


@dataclass(frozen=True)
class _State:
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
    ) -> _State:
        """The state after one more round."""
        places = (self.origin(each.span) for each in made)
        return _State(
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


@dataclass(frozen=True)
class _Fixing:
    """Rounds, one after the other."""

    check: Check
    accepts: Callable[[Finding], bool]
    max_rounds: int = MAX_ROUNDS
    insists: bool = False
    approves: Approval | None = None

    def stable(self, now: _State) -> tuple[_State, dict[Finding, str]]:
        """The state in which no fix helps, and why each that is left does not."""
        seen = {now.source.text}
        refused: dict[Finding, str] = {}
        declined: dict[tuple[str, Span], str] = {}
        while len(seen) <= self.max_rounds:
            refused |= {
                each: why
                for each in now.findings
                if (why := declined.get((each.code, now.origin(each.span))))
            }
            chosen = self._chosen(now, refused)
            if not chosen:
                break
            after = _Round(now, self, seen, refused).try_all(chosen)
            if after is now:
                continue
            if self._is_approved(now, after):
                refused, now = {}, after
                seen.add(now.source.text)
            else:
                why = QUIT if self.approves and self.approves.over else DECLINED
                declined |= {(one.code, now.origin(one.span)): why for one in chosen}
        return now, refused

    def _chosen(self, now: _State, refused: dict[Finding, str]) -> tuple[Finding, ...]:
        left = [each for each in now.findings if self.accepts(each) and each not in refused]
        # Whether a comment is of use shows once all else is fixed.
        left = [each for each in left if each.code != UNUSED] or left
        if isinstance(now.source, JoinedFiles):
            left = now.source.first_to_fix(left)
        if self.approves is None:
            return select(left)
        if self.approves.over:
            refused |= dict.fromkeys(left, QUIT)
            return ()
        return select(left)[:1]

    def _is_approved(self, now: _State, after: _State) -> bool:
        if self.approves is None:
            return True
        made = after.applied[len(now.applied) :]
        return self.approves(made, now.source, after.source)


@dataclass(frozen=True)
class _Round:
    """Tries fixes on one text."""

    before: _State
    fixing: _Fixing
    seen: set[str]
    """The texts that there have been: none of them may come back."""
    refused: dict[Finding, str]
    """Why a fix does not help; filled in as that is found out."""

    def try_all(self, chosen: Sequence[Finding]) -> _State:
        """What the fixes of `chosen` that help make of the file."""
        if self.fixing.insists:
            first = tuple(each for each in chosen if each.fix is not None and each.fix.begins)
            begun = self._made(first) if first else None
            if isinstance(begun, _State):
                return begun
        return self._add((), self.before, chosen)[1]

    def _made(self, findings: Sequence[Finding]) -> _State | str:
        """The file after fixes, whether they help or not; why not, where it cannot be checked."""
        edits = edits_of(findings)
        text = apply(self.before.source.text, edits)
        if text in self.seen:
            return "it would undo another fix"
        try:
            source = self.before.source.with_text(text)
            return self.before.then(source, self.fixing.check(source), findings, edits)
        except InputError as error:
            return f"it would leave what cannot be checked: {error.message}"

    def _add(
        self, kept: tuple[Finding, ...], state: _State, more: Sequence[Finding]
    ) -> tuple[tuple[Finding, ...], _State]:
        """Adds to the fixes that are kept as many as help, by halves."""
        together = (*kept, *more)
        after = self._after(together)
        if isinstance(after, _State):
            return together, after
        if len(more) == 1:
            self.refused[more[0]] = after
            return kept, state
        half = len(more) // 2
        return self._add(*self._add(kept, state, more[:half]), more[half:])

    def _after(self, findings: Sequence[Finding]) -> _State | str:
        """The file after the fixes of `findings`; why not, where they do not all help."""
        after = self._made(findings)
        if isinstance(after, str):
            return after
        objection = _objection(self.before, findings, after)
        if objection and len(findings) == 1 and self._calls_for_more(findings[0]):
            return self._after_all(after, findings[0])
        return objection or after

    def _calls_for_more(self, finding: Finding) -> bool:
        """Whether a fix may need others to help."""
        return self.fixing.insists or (finding.fix is not None and finding.fix.begins)

    def _after_all(self, after: _State, first: Finding) -> _State | str:
        """The file after a fix and those that it calls for; why not, where anything new is left."""
        was = Counter(map(wording, self.before.findings)) - Counter([wording(first)])
        if self.fixing.insists:
            after = self._followed(after, was)
        else:
            after, _ = _Fixing(self.fixing.check, self.fixing.accepts).stable(after)
        if after.source.text in self.seen:
            return "it would undo another fix"
        return (
            _new_finding(self.before, after, Counter(map(wording, after.findings)) - was) or after
        )

    def _followed(self, state: _State, was: Counter[tuple[str, str]]) -> _State:
        """The file after the fixes of what a fix brings, of what these bring, and so on."""
        for _ in range(FOLLOWED):
            new = Counter(map(wording, state.findings)) - was
            brought = [each for each in state.findings if new[wording(each)]]
            chosen = select([each for each in brought if self.fixing.accepts(each)])
            after = _Round(state, self.fixing, self.seen, {})._made(chosen) if chosen else ""
            if isinstance(after, str):
                break
            state = after
        return state


def _objection(before: _State, applied: Sequence[Finding], after: _State) -> str:
    """Why `applied` do not all help: one is not gone, or something is there that was not.

    A finding is the same one as before where its code and place are, or its code and wording.
    """
    origins = {each: _origin(each.span, after.rounds[-1]) for each in after.findings}
    places = Counter((finding.code, finding.span) for finding in before.findings)
    fixed = Counter((finding.code, finding.span) for finding in applied)
    left = Counter((finding.code, origins[finding]) for finding in after.findings)
    if any(left[place] > count - fixed[place] for place, count in places.items()):
        return "it would not fix it"
    kept = places & left
    was = Counter(wording(each) for each in before.findings if not kept[each.code, each.span])
    moved = Counter(
        wording(each) for each in after.findings if not places[each.code, origins[each]]
    )
    return _new_finding(before, after, moved - (was - Counter(map(wording, applied))))


def _new_finding(before: _State, after: _State, new: Counter[tuple[str, str]]) -> str:
    """What is found after fixes that was not before, with the line to which it belongs.

    A comment that has nothing to suppress any more does not count.
    """
    for finding in after.findings:
        if new[wording(finding)] and finding.code != UNUSED:
            place = after.origin(finding.span, since=len(before.rounds))
            location = before.source.location(place.start)
            return f"it would bring {finding.code} in line {location.line_text}"
    return ""


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

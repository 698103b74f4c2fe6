"""Fixing a file in rounds, each of them checked, until there is nothing left to fix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from devicelint.finding import Finding, InputError, Span
from devicelint.fixes.bundle import JoinedFiles
from devicelint.fixes.selection import edits_of, select
from devicelint.fixes.states import FixState, new_finding, objection, wording
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
    refused: tuple[tuple[str, Span, str], ...] = ()
    """The same as `reasons`, by the rule and where in `before` the finding stands."""


class Approval(Protocol):
    """Somebody who is asked about every fix, once it is known to help."""

    over: bool
    """Whether nothing more is to be fixed."""

    def __call__(self, fixes: Sequence[Finding], before: SourceFile, after: SourceFile) -> bool:
        """Whether to make these fixes, which turn one text into the other."""


DECLINED = "you declined its fix"
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
    that was not there before; one that begins or uncovers something, together with the fixes that
    it calls for.  One that does not help is rolled back.  What was rolled back is tried again
    once other fixes have changed the file, so that fixing the result changes nothing.

    With `insists`, each fix that begins something is made whatever is found after it, and any
    other together with those that it calls for.  `approves` is asked about each fix once.
    """
    first = FixState(source, check(source))
    now, refused = _Fixing(check, accepts, max_rounds, insists, approves).stable(first)
    reasons = {each: refused[each] for each in now.findings if each in refused}
    rolled_back = tuple(each for each, why in reasons.items() if why not in (DECLINED, QUIT))
    return Fixed(
        source,
        now.source,
        now.applied,
        rolled_back,
        now.findings,
        tuple(now.places),
        reasons,
        refused=tuple((one.code, now.origin(one.span), why) for one, why in reasons.items()),
    )


@dataclass(frozen=True)
class _Fixing:
    """Rounds, one after the other."""

    check: Check
    accepts: Callable[[Finding], bool]
    max_rounds: int = MAX_ROUNDS
    insists: bool = False
    approves: Approval | None = None

    def stable(self, now: FixState) -> tuple[FixState, dict[Finding, str]]:
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

    def _chosen(self, now: FixState, refused: dict[Finding, str]) -> tuple[Finding, ...]:
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

    def _is_approved(self, now: FixState, after: FixState) -> bool:
        if self.approves is None:
            return True
        made = after.applied[len(now.applied) :]
        return self.approves(made, now.source, after.source)


@dataclass(frozen=True)
class _Round:
    """Tries fixes on one text."""

    before: FixState
    fixing: _Fixing
    seen: set[str]
    """The texts that there have been: none of them may come back."""
    refused: dict[Finding, str]
    """Why a fix does not help; filled in as that is found out."""

    def try_all(self, chosen: Sequence[Finding]) -> FixState:
        """What the fixes of `chosen` that help make of the file."""
        if self.fixing.insists:
            first = tuple(each for each in chosen if each.fix is not None and each.fix.begins)
            begun = self._made(first) if first else None
            if isinstance(begun, FixState):
                return begun
        return self._add((), self.before, chosen)[1]

    def _made(self, findings: Sequence[Finding]) -> FixState | str:
        """The file after fixes, whether they help or not; why not, where it cannot be checked."""
        edits = edits_of(findings)
        text = apply(self.before.source.text, edits)
        if text in self.seen:
            return "it would undo another fix"
        try:
            source = self.before.source.with_text(text)
            return self.before.then(source, self.fixing.check(source), findings, edits)
        except InputError as error:
            return f"it would leave a file that cannot be checked: {error.message}"

    def _add(
        self, kept: tuple[Finding, ...], state: FixState, more: Sequence[Finding]
    ) -> tuple[tuple[Finding, ...], FixState]:
        """Adds to the fixes that are kept as many as help, by halves."""
        together = (*kept, *more)
        after = self._after(together)
        if isinstance(after, FixState):
            return together, after
        if len(more) == 1:
            self.refused[more[0]] = after
            return kept, state
        half = len(more) // 2
        return self._add(*self._add(kept, state, more[:half]), more[half:])

    def _after(self, findings: Sequence[Finding]) -> FixState | str:
        """The file after the fixes of `findings`; why not, where they do not all help."""
        after = self._made(findings)
        if isinstance(after, str):
            return after
        against = objection(self.before, findings, after)
        if against and len(findings) == 1 and self._calls_for_more(findings[0]):
            return self._after_all(after, findings[0])
        return against or after

    def _calls_for_more(self, finding: Finding) -> bool:
        """Whether a fix may need others to help.

        What raises hides what comes after it; where nothing did, a fix that makes something raise
        does not help.
        """
        fix = finding.fix
        return self.fixing.insists or (fix is not None and (fix.begins or fix.uncovers))

    def _after_all(self, after: FixState, first: Finding) -> FixState | str:
        """The file after a fix and those that it calls for; why not, where anything new is left."""
        was = Counter(map(wording, self.before.findings)) - Counter([wording(first)])
        if first.fix is not None and first.fix.begins and not self.fixing.insists:
            after, _ = _Fixing(self.fixing.check, self.fixing.accepts).stable(after)
        else:
            after = self._followed(after, was)
        if after.source.text in self.seen:
            return "it would undo another fix"
        return new_finding(self.before, after, Counter(map(wording, after.findings)) - was) or after

    def _followed(self, state: FixState, was: Counter[tuple[str, str]]) -> FixState:
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

"""Whether the judge finds what is wrong: mistakes are planted in the linter, one at a time.

Each program runs once.  It finds a mistake where the mistaken linter misses an error, or raises a
false alarm, that the sound one does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from benchmarks.differential.generating import programs_of
from benchmarks.differential.judging import Verdict
from benchmarks.differential.linting import Linter
from benchmarks.differential.mistakes import MISTAKES, Mistake
from benchmarks.differential.planting import planted
from benchmarks.differential.report import table
from benchmarks.differential.running import Ran
from benchmarks.differential.trial import Trial, trial

_AT_ONCE = 50
"""So many programs are checked before more are run."""


@dataclass(frozen=True)
class Discovery:
    """What became of a planted mistake.

    Attributes:
        mistake: the mistake.
        after: how many programs it took to find it; None where all of them did not.
        by: what the mistaken linter said, or did not say.
        found: the program that found it, and what the sound linter said of it.
    """

    mistake: Mistake
    after: int | None
    by: str = ""
    found: Verdict | None = None


class Cases:
    """The programs of a seed with the verdicts of the sound linter, as many as were asked for.

    Args:
        one: where they run.
        seed: the seed.
    """

    def __init__(self, one: Trial, seed: int) -> None:
        self._ran = one.ran(programs_of(seed))
        self._trial = one
        self._known: list[tuple[Ran, Verdict]] = []

    def __getitem__(self, part: slice) -> Sequence[tuple[Ran, Verdict]]:
        missing = part.stop - len(self._known)
        for ran in islice(self._ran, max(missing, 0)):
            self._known.append((ran, self._trial.judge(ran)))
        return self._known[part]


def discovery(cases: Cases, mistake: Mistake, file: str, most: int) -> Discovery:
    """Look for a mistake in so many programs at most."""
    for first in range(0, most, _AT_ONCE):
        some = cases[first : min(first + _AT_ONCE, most)]
        with planted(mistake.plant):
            linter = Linter(file)
            for number, (ran, sound) in enumerate(some, first + 1):
                by = worse(sound, linter.judge(ran))
                if by:
                    return Discovery(mistake, number, by, sound)
    return Discovery(mistake, None)


def worse(sound: Verdict, mistaken: Verdict) -> str:
    """What is wrong with the second verdict that is not with the first; empty if nothing is."""
    missed = {(miss.gpus, miss.error.line) for miss in sound.misses}
    for miss in mistaken.misses:
        if (miss.gpus, miss.error.line) not in missed:
            return f"missed: {miss.error.kind} in {miss.error.operation}"
    alarmed = {(alarm.gpus, alarm.claim.rule, alarm.line) for alarm in sound.false_alarms}
    for alarm in mistaken.false_alarms:
        if (alarm.gpus, alarm.claim.rule, alarm.line) not in alarmed:
            return f"false alarm: {alarm.claim.rule}"
    return ""


def discoveries(
    seed: int, most: int, mistakes: Sequence[Mistake] = MISTAKES
) -> Iterator[Discovery]:
    """Look for each mistake in the programs of a seed."""
    with trial() as one:
        cases = Cases(one, seed)
        for mistake in mistakes:
            yield discovery(cases, mistake, one.file, most)


def report_planted(seed: int, most: int) -> Iterator[str]:
    """The lines that are printed: each mistake, and after how many programs it was found."""
    found = []
    for each in discoveries(seed, most):
        found.append(each)
        yield f"{each.mistake.name}: {each.after or 'not found'}"
    yield ""
    rows = [(each.mistake.name, each.after or "-", each.by or "not found") for each in found]
    yield from table(("planted mistake", "programs", "found by"), rows)
    yield ""
    count = sum(each.after is not None for each in found)
    yield f"found {count} of {len(found)} planted mistakes within {most} programs of seed {seed}"

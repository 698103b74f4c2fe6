"""How many of the mined mistakes devicelint finds, by half of the repositories."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.bug_cases import Case, read_cases
from benchmarks.checkouts import CheckoutError
from benchmarks.halves import Half, half_of
from benchmarks.real_bugs import Score, scored, table

CASES = Path(__file__).with_name("cases.jsonl")
HALVES: tuple[Half, ...] = ("learn", "measure")


@dataclass(frozen=True)
class Figures:
    """What is said of the cases of a half.

    Attributes:
        half: the half.
        scores: what was found before and after each fix.
        missing: the cases that could not be had, each with its reason.
    """

    half: Half
    scores: tuple[Score, ...]
    missing: tuple[str, ...]

    @property
    def found(self) -> int:
        """So many mistakes are found."""
        return sum(score.is_found for score in self.scores)

    @property
    def alarmed(self) -> int:
        """At so many fixes, something is said of the lines that the human has fixed."""
        return sum(bool(score.false_alarms) for score in self.scores)

    @property
    def unchecked(self) -> int:
        """Of so many cases, one side cannot be checked: it counts as not found."""
        return sum(bool(score.problems) for score in self.scores)

    def __str__(self) -> str:
        return f"{self.found} of {len(self.scores)} ({self.half})"

    def lines(self) -> Iterator[str]:
        """Yield the tables, as printed."""
        yield f"{self.half}: {len(self.scores)} cases of {len(self._repositories)} repositories"
        for attribute in ("evidence", "kind"):
            yield ""
            yield from table(self.scores, attribute)
        yield ""
        yield f"findings on fixed lines: at {self.alarmed} of {len(self.scores)} fixes"
        yield f"cases with a side that cannot be checked: {self.unchecked}"
        yield f"cases that cannot be had: {len(self.missing)}"
        yield ""

    @property
    def _repositories(self) -> frozenset[str]:
        return frozenset(score.case.repo for score in self.scores)

    def as_data(self) -> dict[str, Any]:
        """The figures for `--json`; of the half that measures, nothing but figures."""
        data: dict[str, Any] = {
            "cases": len(self.scores),
            "repositories": len(self._repositories),
            "found": self.found,
            "false alarms": self.alarmed,
            "unchecked": self.unchecked,
            "missing": len(self.missing),
            "by evidence": _by(self.scores, "evidence"),
            "by kind": _by(self.scores, "kind"),
            "by effect": _by(self.scores, "effect"),
        }
        if self.half == "learn":
            data["each"] = {score.case.id: _told(score) for score in self.scores}
        return data


def _by(scores: Sequence[Score], attribute: str) -> dict[str, list[int]]:
    """How many of each group were found, and how many there are."""
    total = Counter(str(getattr(score.case, attribute)) for score in scores)
    found = Counter(str(getattr(score.case, attribute)) for score in scores if score.is_found)
    return {group: [found[group], total[group]] for group in sorted(total)}


def _told(score: Score) -> dict[str, Any]:
    return {
        "found": score.is_found,
        "false alarms": score.false_alarms,
        "problems": score.problems,
    }


def judge(half: Half, cases: Sequence[Case], mirror: Path, out: Path) -> Figures:
    """Check what was before and after each fix of a half; the code is written below `out`."""
    chosen = [case for case in cases if half_of(case.repo) == half and case.effect != "old-torch"]
    options = argparse.Namespace(trees="needed", mirror=mirror, out=out)
    results = list(scored(chosen, options))
    return Figures(
        half,
        tuple(each for each in results if isinstance(each, Score)),
        tuple(each for each in results if isinstance(each, str)),
    )


def failures(figures: Figures) -> Iterator[str]:
    """Yield what went wrong in the half that is looked into."""
    for score in figures.scores:
        case, lines = score.case, ", ".join(map(str, score.case.buggy_lines))
        if not score.is_found:
            yield f"missed  {case.id}: {case.kind}, {case.evidence}, {case.file}:{lines}"
        yield from (f"false alarm  {case.id}: {alarm}" for alarm in score.false_alarms)
        yield from (f"unchecked  {case.id}: {problem}" for problem in score.problems)
    yield from figures.missing


def run(options: argparse.Namespace) -> int:
    """Print the tables, the learning half's failures and the figures; 2 where a case is missing."""
    cases = read_cases(options.cases, options.only)
    if not cases:
        raise CheckoutError(f"{options.cases} holds no such case")
    halves = [each for each in HALVES if options.half in (None, each)]
    done: list[Figures] = []
    with tempfile.TemporaryDirectory() as kept_by_nobody:
        for half in halves:
            # What measures is not laid out for anybody to look at.
            shown = options.out is not None and half == "learn"
            out = options.out.resolve() if shown else Path(kept_by_nobody)
            done.append(judge(half, cases, options.mirror, out))
            print(*done[-1].lines(), sep="\n")
            if half == "learn":
                print(*failures(done[-1]), sep="\n", end="\n\n")
    if options.json:
        content = json.dumps({each.half: each.as_data() for each in done}, indent=1)
        options.json.write_text(content + "\n", encoding="utf-8")
    print("found " + ", ".join(map(str, done)))
    return 2 if any(each.missing for each in done) else 0

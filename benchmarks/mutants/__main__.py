"""Mutants of real packages and scripts: harmful by the run, found and repaired by devicelint.

    python -m benchmarks.mutants CHECKOUTS [--only PATTERN] [--half HALF] [--seed S]
        [--count N] [--minutes M] [--out DIR] [--json FILE] [--jobs J]

CHECKOUTS holds a checkout of each subject of `benchmarks.corpora`, in whose environment they run.
README.md says what is counted.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path

from benchmarks.checkouts import CheckoutError, git
from benchmarks.corpora.environment import DEFAULT, Environment
from benchmarks.corpora.running import Workplace
from benchmarks.corpora.subjects import SUBJECTS, Subject, SubjectError, read_subjects
from benchmarks.mutants.ledger import Ledger
from benchmarks.mutants.rounds import Budget, Plan, in_turn
from benchmarks.mutants.tables import as_data, report

ROUND = 20
SECONDS = 600.0
"""However few mutants ran, a round ends after so long."""


def main(argv: Sequence[str] | None = None) -> int:
    """Judge mutants: 0 where some could be run, 2 where none."""
    given = _parser().parse_args(argv)
    try:
        chosen = _chosen(given)
    except SubjectError as error:
        print(error, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="mutants-") as temporary:
        root = (given.out / "scratch" if given.out else Path(temporary)).resolve()
        place = Workplace(root, given.checkouts.resolve(), Environment(given.environment))
        ledger = Ledger(given.out)
        plan = Plan(place, given.seed, given.round, SECONDS, frozenset(ledger.results))
        seconds = None if given.minutes is None else 60.0 * given.minutes
        for found in in_turn(plan, chosen, Budget(given.count, seconds), given.jobs):
            ledger.add(found.results)
            ran = sum(each.fate != "not run" for each in found.results)
            name = found.subject if _is_open(found.subject, chosen) else "(one that measures)"
            print(
                f"{name}: {ran} in {found.seconds:.0f} s {found.fault}", file=sys.stderr, flush=True
            )
    results = list(ledger.results.values())
    print("\n".join(report(results)), flush=True)
    if given.json is not None:
        data = as_data(results, seed=given.seed, commit=_commit())
        given.json.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    return 0 if results else 2


def _chosen(given: argparse.Namespace) -> list[Subject]:
    chosen = [
        each
        for each in read_subjects(given.subjects)
        if fnmatch(each.name.lower(), given.only.lower()) and given.half in (each.half, "both")
    ]
    if not chosen:
        raise SubjectError(f"no subject is called {given.only}")
    return chosen


def _is_open(name: str, chosen: Sequence[Subject]) -> bool:
    return any(each.name == name and each.half == "learn" for each in chosen)


def _commit() -> str:
    """The commit of devicelint that is judged; empty where that is not known."""
    try:
        return git(Path(__file__).parent, "rev-parse", "HEAD").decode().strip()
    except CheckoutError:
        return ""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks.mutants", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("checkouts", type=Path, metavar="CHECKOUTS", help="where the checkouts lie")
    add("--only", default="*", metavar="PATTERN", help="the repositories whose names match")
    add("--half", choices=("learn", "measure", "both"), default="both", help="those of this half")
    add("--seed", type=int, default=17, metavar="S", help="decides on the order of the mutants")
    add("--count", type=int, metavar="N", help="stop after N mutants that ran")
    add("--minutes", type=float, metavar="M", help="begin no other round after M minutes")
    add("--round", type=int, default=ROUND, metavar="N", help="run N of a subject at a time")
    add("--jobs", type=int, default=1, metavar="J", help="work on J subjects at a time")
    add("--out", type=Path, metavar="DIR", help="keep results and misses, and go on from there")
    add("--json", type=Path, metavar="FILE", help="write the figures to FILE as well")
    add("--environment", type=Path, default=DEFAULT, metavar="DIR", help="what to run in")
    add("--subjects", type=Path, default=SUBJECTS, metavar="FILE", help="other subjects")
    return parser


if __name__ == "__main__":
    sys.exit(main())

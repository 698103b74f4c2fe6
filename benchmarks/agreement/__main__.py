"""Runs real programs with a recorder, and holds what devicelint says of them against that.

    python -m benchmarks.agreement CHECKOUTS [--only OWNER/NAME ...] [--half learn|measure]
        [--out DIR] [--json FILE] [--minutes M] [--seed S]

CHECKOUTS holds the checkouts of `benchmarks/corpora`. README.md says what is counted.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.agreement.comparing.totals import Found, compare
from benchmarks.agreement.running import Ran, Recording
from benchmarks.agreement.tables import Part, as_data, by_subject, last_line, listed, report
from benchmarks.checkouts import CheckoutError
from benchmarks.corpora.environment import DEFAULT, Environment
from benchmarks.corpora.running import Workplace
from benchmarks.corpora.subjects import Subject, SubjectError, subjects

HALVES = ("learn", "measure")


def main(argv: Sequence[str] | None = None) -> int:
    """Record, compare and print: 0 where it could be done, 2 where not."""
    given = _parser().parse_args(argv)
    try:
        chosen = chosen_of(subjects(), given)
    except SubjectError as error:
        print(error, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="agreement-") as temporary:
        scratch = (given.scratch or Path(temporary)).resolve()
        environment = Environment(given.environment.absolute())
        place = Workplace(scratch, given.checkouts.resolve(), environment, given.machine)
        records = scratch / "records"
        recording = Recording(place, records, given.twice, given.limit, not given.recorded)
        try:
            judged = _judge(recording, chosen, given)
        except CheckoutError as error:
            print(error, file=sys.stderr)
            return 2
    _tell(judged, given)
    return 0


def chosen_of(every: Sequence[Subject], given: argparse.Namespace) -> list[Subject]:
    """The subjects that are asked for, in the order of the seed.

    Raises:
        SubjectError: there is none.
    """
    names = {name.lower() for name in given.only}
    if unknown := names - {subject.name.lower() for subject in every}:
        raise SubjectError(f"no subject is called {min(unknown)}")
    chosen = [
        subject
        for subject in every
        if (not names or subject.name.lower() in names) and given.half in (None, subject.half)
    ]
    random.Random(given.seed).shuffle(chosen)
    return chosen


class Judged:
    """What was found: figures of both halves, and the cases of the learning half."""

    def __init__(self) -> None:
        self.halves = {half: Part(half) for half in HALVES}
        self.subjects: list[Part] = []
        self.found: dict[str, list[Found]] = {}
        self.left_out = 0

    def add(self, ran: Ran) -> Part:
        """Compare a subject; of one that measures, nothing but figures is kept."""
        subject = ran.subject
        part = Part(subject.name, packages=subject.tests is not None and ran.tests > 0)
        part.scripts, part.tests = ran.scripts, ran.tests
        part.failed, part.changed = len(ran.failed), len(ran.changed)
        cases: list[Found] = []
        for gpus, record in sorted(ran.records.items()):
            totals, found = compare(record, ran.tree, gpus)
            part.totals.add(totals)
            cases.extend(found)
        self.halves[subject.half].add(part)
        if subject.half == "learn":
            self.subjects.append(part)
            self.found[subject.name] = cases
        return part


def _judge(recording: Recording, chosen: Sequence[Subject], given: argparse.Namespace) -> Judged:
    """Record and compare one subject after the other, while there is time."""
    judged = Judged()
    end = time.monotonic() + 60 * given.minutes
    for subject in chosen:
        if time.monotonic() > end:
            judged.left_out += 1
            continue
        try:
            ran = recording.record(subject)
        except SubjectError as error:
            _say(str(error))
            continue
        part = judged.add(ran)
        if subject.half == "learn":
            for line in (*ran.failed, *(f"ends otherwise: {one}" for one in ran.changed)):
                _say(f"{subject.name}: {line}")
        expressions = f"{part.totals.places.total():,} expressions"
        _say(f"{subject.name}: {part.tests} tests, {part.scripts} scripts, {expressions}")
    return judged


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _tell(judged: Judged, given: argparse.Namespace) -> None:
    halves = [part for part in judged.halves.values() if part.packages + part.scripts]
    for line in _tables(judged, halves):
        print(line)
    if given.out is not None:
        given.out.mkdir(parents=True, exist_ok=True)
        text = "\n".join(listed(judged.found))
        (given.out / "contradictions.txt").write_text(text + "\n", encoding="utf-8")
    if given.json is not None:
        data = {
            "seed": given.seed,
            "halves": [as_data(part) for part in halves],
            "subjects": [as_data(part) for part in judged.subjects],
        }
        given.json.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def _tables(judged: Judged, halves: Sequence[Part]) -> Iterator[str]:
    yield from by_subject(judged.subjects)
    yield from report(halves)
    if judged.left_out:
        yield f"subjects for which no time was left: {judged.left_out}"
    yield last_line(halves)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks.agreement", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("checkouts", type=Path, metavar="CHECKOUTS", help="where the checkouts lie")
    add("--only", action="append", default=[], metavar="OWNER/NAME", help="this subject alone")
    add("--half", choices=HALVES, help="the subjects of one half alone")
    add("--seed", type=int, default=0, metavar="S", help="decides which subjects come first")
    add("--minutes", type=float, default=600.0, metavar="M", help="begin none after M minutes")
    add("--limit", type=float, default=600.0, metavar="S", help="end a run after S seconds")
    add("--machine", choices=("virtual", "cuda"), default="virtual", help="whose GPUs are used")
    add("--twice", action="store_true", help="run without the recorder, too, and compare the ends")
    add("--out", type=Path, metavar="DIR", help="write the contradictions here")
    add("--json", type=Path, metavar="FILE", help="write the figures to FILE as well")
    add("--environment", type=Path, default=DEFAULT, metavar="DIR", help="what to run in")
    add("--scratch", type=Path, metavar="DIR", help="keep what is recorded here, and go on from it")
    add("--recorded", action="store_true", help="run nothing: compare what --scratch holds")
    return parser


if __name__ == "__main__":
    sys.exit(main())

"""How many real bugs devicelint finds, and whether it leaves their fixes alone.

    python benchmarks/real_bugs.py CASES --mirror MIRROR --out FOLDER [--trees all] [--json FILE]

CASES lists mistakes that people fixed in public repositories, one JSON object a line. MIRROR holds
their checkouts, as MIRROR/OWNER+NAME/repo. The code before and after each fix is written below
FOLDER, which lies outside of this repository. README.md says how a bug is scored.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.bug_cases import Case, extract, read_cases
from benchmarks.checking import Outcome, check_file
from benchmarks.checkouts import CheckoutError
from devicelint.workspace.project import Project

NEAR = 2
"""So many lines from the mistake, a finding may stand."""

SHOWN = frozenset({"api", "explicit", "module"})
"""The evidence that a file shows in so many words."""

HERE = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Score:
    """A case, and what was found before and after its fix."""

    case: Case
    before: Outcome
    after: Outcome

    @property
    def is_found(self) -> bool:
        """Whether a finding stands at the mistake, or within two lines of it."""
        lines = [self.before.line_of(finding) for finding in self.before.findings]
        return any(abs(line - bug) <= NEAR for line in lines for bug in self.case.buggy_lines)

    @property
    def false_alarms(self) -> list[str]:
        """What is said of the lines that the fix has fixed."""
        return [
            f"{self.case.file}:{self.after.line_of(finding)}: {finding.code} {finding.message}"
            for finding in self.after.findings
            if any(line in self.after.lines_of(finding) for line in self.case.fixed_lines)
        ]

    @property
    def problems(self) -> list[str]:
        """Why a side could not be checked."""
        return [each.told for each in (self.before, self.after) if each.fate != "checked"]


@dataclass(frozen=True)
class Promise:
    """So many of a group are found, as a share that does not depend on how many there are."""

    label: str
    found: int
    total: int
    least: float

    @property
    def holds(self) -> bool:
        """Whether it is kept; a group without cases breaks no promise."""
        return self.found >= self.least * self.total

    def __str__(self) -> str:
        verdict = "pass" if self.holds else "FAIL"
        return f"{verdict}  {self.label}: {self.found} of {self.total}, at least {self.least:.0%}"


def scored(cases: Sequence[Case], options: argparse.Namespace) -> Iterator[Score | str]:
    """Yield each case's score, or what is missing for it."""
    for case in cases:
        whole = options.trees == "all" or not case.local
        try:
            before = extract(case, "before", options.mirror, options.out, whole=whole)
            after = extract(case, "after", options.mirror, options.out, whole=whole)
        except CheckoutError as error:
            yield str(error)
            continue
        yield Score(case, check_file(before, Project()), check_file(after, Project()))


def promises(scores: Sequence[Score]) -> list[Promise]:
    """What devicelint promises of mistakes that a file alone shows and that end in an error."""
    errors = [score for score in scores if score.case.local and score.case.effect == "error"]
    shown = [score for score in errors if score.case.evidence in SHOWN]
    contract = [score for score in errors if score.case.evidence == "param"]
    return [
        Promise("local errors, evidence api, explicit or module", *_counts(shown), 38 / 44),
        Promise("local errors, evidence param", *_counts(contract), 15 / 22),
    ]


def _counts(scores: Sequence[Score]) -> tuple[int, int]:
    return sum(score.is_found for score in scores), len(scores)


COLUMNS: dict[str, Callable[[Case], bool]] = {
    "error, local": lambda case: case.local and case.effect == "error",
    "silent, local": lambda case: case.local and case.effect == "silent",
    "not local": lambda case: not case.local,
    "all": lambda _: True,
}


def table(scores: Sequence[Score], attribute: str) -> Iterator[str]:
    """Yield a line for each evidence or kind: how many were found, of how many."""
    rows = sorted({str(getattr(score.case, attribute)) for score in scores})
    width = max(map(len, (*rows, attribute)))
    yield f"{attribute:{width}}" + "".join(f"{name:>16}" for name in COLUMNS)
    for row in [*rows, "all"]:
        mine = [score for score in scores if row in ("all", getattr(score.case, attribute))]
        groups = ([s for s in mine if chosen(s.case)] for chosen in COLUMNS.values())
        cells = ("{}/{}".format(*_counts(group)) if group else "-" for group in groups)
        yield f"{row:{width}}" + "".join(f"{cell:>16}" for cell in cells)


def report(scores: Sequence[Score], verbose: bool) -> bool:
    """Print the tables, what is missed and what is wrong; whether all promises hold."""
    for attribute in ("evidence", "kind"):
        print(*table(scores, attribute), sep="\n", end="\n\n")
    for score in scores:
        if verbose or not score.is_found:
            case, lines = score.case, ", ".join(map(str, score.case.buggy_lines))
            where = "local" if case.local else "not local"
            print(f"{'found ' if score.is_found else 'missed'}  {case.id}: ", end="")
            print(f"{case.kind}, {case.evidence}, {case.effect}, {where}, {case.file}:{lines}")
        for problem in score.problems:
            print(f"        {problem}")
    alarms = [(score.case.id, alarm) for score in scores for alarm in score.false_alarms]
    for case_id, alarm in alarms:
        print(f"false alarm  {case_id}: {alarm}")
    kept = promises(scores)
    print("", *kept, sep="\n")
    print(f"{'FAIL' if alarms else 'pass'}  findings on fixed lines: {len(alarms)}, at most 0")
    return not alarms and all(promise.holds for promise in kept)


def as_data(scores: Sequence[Score], missing: Sequence[str]) -> dict[str, Any]:
    """The whole run for `--json`; it holds no code."""
    return {
        "cases": [
            {
                "id": score.case.id,
                "kind": score.case.kind,
                "evidence": score.case.evidence,
                "effect": score.case.effect,
                "local": score.case.local,
                "found": score.is_found,
                "findings": [
                    [score.before.line_of(finding), finding.code]
                    for finding in score.before.findings
                ],
                "false_alarms": score.false_alarms,
                "problems": score.problems,
            }
            for score in scores
        ],
        "missing": list(missing),
    }


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    add = parser.add_argument
    add("cases", type=Path, metavar="CASES", help="the cases, one JSON object a line")
    add("--mirror", type=Path, required=True, help="the checkouts, as OWNER+NAME/repo")
    add("--out", type=Path, required=True, metavar="FOLDER", help="where the code is written")
    add("--only", nargs="*", default=(), metavar="ID", help="these cases alone")
    add(
        "--trees",
        choices=("needed", "all"),
        default="needed",
        help="give all cases the other files of the repository, or those that need them (default)",
    )
    add("--json", type=Path, metavar="FILE", help="write the scores to a file")
    add("--verbose", "-v", action="store_true", help="list what is found as well")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Score: 0 where all promises hold, 1 where one does not, 2 where a case cannot be had."""
    options = parse_arguments(arguments)
    options.out = options.out.resolve()
    if options.out.is_relative_to(HERE):
        print(
            f"{options.out} lies in this repository, which keeps no foreign code", file=sys.stderr
        )
        return 2
    try:
        cases = read_cases(options.cases, options.only)
    except CheckoutError as error:
        print(error, file=sys.stderr)
        return 2
    results = list(scored([case for case in cases if case.effect != "old-torch"], options))
    scores = [each for each in results if isinstance(each, Score)]
    missing = [each for each in results if isinstance(each, str)]
    print(*missing, sep="\n", end="\n" if missing else "", file=sys.stderr)
    if not scores:
        print("no case was scored", file=sys.stderr)
        return 2
    holds = report(scores, options.verbose)
    if options.json:
        content = json.dumps(as_data(scores, missing), indent=1)
        options.json.write_text(content + "\n", encoding="utf-8")
    return 2 if missing else int(not holds)


if __name__ == "__main__":
    sys.exit(main())

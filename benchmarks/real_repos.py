"""What devicelint finds in real repositories, and how much of it is right.

    python benchmarks/real_repos.py FOLDER [--reviewed benchmarks/reviewed] [--list] [--json FILE]

Every Python file of every checkout below FOLDER is checked, or with `--notebooks` every notebook.
With `--reviewed`, the findings are compared with what people who read them have said. README.md
says what a checkout is, and what is promised.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.checking import Fate, Outcome, check_file
from benchmarks.checkouts import Checkout, CheckoutError, checkouts_below
from benchmarks.promised import all_kept
from benchmarks.reviewed import VERDICTS, Key, Reviewed, path_of, read_reviewed, written
from devicelint.workspace.project import Project

OVERALL, EACH = 0.95, 0.90
"""The least share of what was read that is right: of all findings, and of each rule's."""

BETWEEN_COLLECTIONS = 100


@dataclass(frozen=True)
class Found:
    """One finding: where it is, and what it says."""

    repository: str
    key: Key
    message: str

    def __str__(self) -> str:
        return f"{self.repository}  {self.key.place}: {self.key.code} {self.message}"


@dataclass(frozen=True)
class Trouble:
    """A file that was not checked, and why; the ones at which devicelint failed are its fault."""

    repository: str
    fate: Fate
    told: str

    @property
    def is_fault(self) -> bool:
        """Whether devicelint failed, and not the file."""
        return self.fate != "unreadable"

    def __str__(self) -> str:
        return f"{self.fate}  {self.repository}  {self.told}"


@dataclass(frozen=True)
class Result:
    """All that came of one checkout."""

    checkout: Checkout
    files: int
    lines: int
    seconds: float
    slowest: tuple[float, str]
    found: tuple[Found, ...]
    troubles: tuple[Trouble, ...]


def checked(checkout: Checkout, notebooks: bool = False) -> Result:
    """Check every file of a checkout, or every notebook."""
    outcomes = []
    lines = 0
    project = Project()
    for number, path in enumerate(checkout.files(notebooks), start=1):
        outcome = check_file(path, project)
        lines += outcome.source.text.count("\n") if outcome.source else 0
        outcomes.append(_slim(checkout, outcome))
        if number % BETWEEN_COLLECTIONS == 0:
            gc.collect()
    return Result(
        checkout,
        files=len(outcomes),
        lines=lines,
        seconds=sum(seconds for seconds, *_ in outcomes),
        slowest=max(((seconds, name) for seconds, name, *_ in outcomes), default=(0.0, "")),
        found=tuple(each for _, _, found, _ in outcomes for each in found),
        troubles=tuple(trouble for *_, trouble in outcomes if trouble),
    )


def _slim(
    checkout: Checkout, outcome: Outcome
) -> tuple[float, str, tuple[Found, ...], Trouble | None]:
    """What is kept of an outcome: neither text nor tree."""
    name = checkout.relative(outcome.path)
    found = tuple(
        Found(
            checkout.name,
            Key(name, outcome.line_of(each), each.code, outcome.cell_of(each)),
            each.message,
        )
        for each in outcome.findings
    )
    trouble = None
    if outcome.fate != "checked":
        told = outcome.told if outcome.fate == "unreadable" else f"{name}:1:1: {outcome.told}"
        told = told.replace(f"{outcome.path}:", f"{name}:")
        trouble = Trouble(checkout.name, outcome.fate, told)
    return outcome.seconds, name, found, trouble


def table_of_repositories(results: Sequence[Result]) -> Iterator[str]:
    """Yield a line for each checkout."""
    width = max(len(result.checkout.name) for result in results)
    yield f"{'repository':{width}} {'files':>6} {'lines':>8} {'s':>7} {'slowest':>8}  findings"
    for result in results:
        codes = Counter(found.key.code for found in result.found)
        told = ", ".join(f"{code} {count}" for code, count in sorted(codes.items())) or "none"
        yield (
            f"{result.checkout.name:{width}} {result.files:6} {result.lines:8} "
            f"{result.seconds:7.1f} {result.slowest[0]:8.2f}  {told}"
        )
    yield (
        f"{'all':{width}} {sum(result.files for result in results):6} "
        f"{sum(result.lines for result in results):8} "
        f"{sum(result.seconds for result in results):7.1f} "
        f"{max(result.slowest[0] for result in results):8.2f}  "
        f"{sum(len(result.found) for result in results)}"
    )


Verdicts = list[tuple[Found, str]]
"""Each finding with what was said of it; empty where nobody has read it."""


def judged(results: Sequence[Result], reviewed: Mapping[str, Reviewed]) -> Verdicts:
    """What was said of each finding."""
    pairs = []
    for found in (each for result in results for each in result.found):
        about = reviewed.get(found.repository)
        verdict = about.of(found.key) if about else None
        pairs.append((found, verdict.verdict if verdict else ""))
    return pairs


def table_of_rules(verdicts: Verdicts) -> Iterator[str]:
    """Yield a line for each rule: how often, in how many repositories, and how it was judged."""
    heads = ("findings", "repositories", *VERDICTS, "unread", "right")
    yield f"{'rule':8}" + "".join(f"{head:>13}" for head in heads)
    for code in [*sorted({found.key.code for found, _ in verdicts}), "all"]:
        mine = [(found, said) for found, said in verdicts if code in ("all", found.key.code)]
        counts = Counter(said for _, said in mine)
        cells = (
            len(mine),
            len({found.repository for found, _ in mine}),
            *(counts[verdict] for verdict in VERDICTS),
            counts[""],
            _percent(share_right(mine)),
        )
        yield f"{code:8}" + "".join(f"{cell:>13}" for cell in cells)


def share_right(verdicts: Verdicts) -> float | None:
    """The share of what was read that is right; None where nothing was."""
    read = [said for _, said in verdicts if said]
    return read.count("right") / len(read) if read else None


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def stale(results: Sequence[Result], reviewed: Mapping[str, Reviewed]) -> list[tuple[str, Key]]:
    """The verdicts on what is not found any more."""
    found = {(each.repository, each.key) for result in results for each in result.found}
    said = ((name, key) for name, about in reviewed.items() for key in about.verdicts)
    return sorted(pair for pair in said if pair not in found)


def promises(verdicts: Verdicts, outdated: int) -> Iterator[tuple[bool, str]]:
    """Yield what is promised of findings that were read, and whether it holds."""
    overall = share_right(verdicts)
    if overall is not None:
        yield overall >= OVERALL, f"right overall: {overall:.1%}, at least {OVERALL:.0%}"
    for code in sorted({found.key.code for found, _ in verdicts}):
        share = share_right([pair for pair in verdicts if pair[0].key.code == code])
        if share is not None and share < EACH:
            yield False, f"right of {code}: {share:.1%}, at least {EACH:.0%}"
    unread = sum(not said for _, said in verdicts)
    yield not unread, f"findings that nobody has read: {unread}, at most 0"
    yield not outdated, f"verdicts on what is not found any more: {outdated}, at most 0"


def report(results: Sequence[Result], reviewed: Mapping[str, Reviewed] | None, full: bool) -> bool:
    """Print the tables, the troubles and the promises; whether all is well."""
    verdicts = judged(results, reviewed or {})
    print(*table_of_repositories(results), sep="\n", end="\n\n")
    print(*table_of_rules(verdicts), sep="\n", end="\n\n")
    troubles = [trouble for result in results for trouble in result.troubles]
    outdated = stale(results, reviewed or {})
    for found, said in verdicts:
        if full or (reviewed is not None and said != "right"):
            print(f"{said or 'unread'}  {found}")
    for name, key in outdated:
        print(f"not found any more  {name}  {key.place}: {key.code}")
    print(*troubles, sep="\n", end="\n\n" if troubles else "\n")
    faults = sum(trouble.is_fault for trouble in troubles)
    kept = [(not faults, f"files at which devicelint fails: {faults}, at most 0")]
    if reviewed is not None:
        kept += promises(verdicts, len(outdated))
    return all_kept(kept)


def update(folder: Path, results: Sequence[Result], reviewed: Mapping[str, Reviewed]) -> None:
    """Write the verdicts anew: what is not found goes, what nobody has read comes with none."""
    folder.mkdir(parents=True, exist_ok=True)
    for result in results:
        checkout = result.checkout
        about = reviewed.get(checkout.name, Reviewed(checkout.name, checkout.commit))
        text = written(about, (found.key for found in result.found))
        path_of(folder, checkout.name).write_text(text, encoding="utf-8")


def as_data(results: Sequence[Result], verdicts: Verdicts) -> dict[str, Any]:
    """The whole run for `--json`."""
    return {
        "repositories": [
            {
                "repository": result.checkout.name,
                "commit": result.checkout.commit,
                "files": result.files,
                "lines": result.lines,
                "seconds": round(result.seconds, 2),
                "troubles": [[trouble.fate, trouble.told] for trouble in result.troubles],
            }
            for result in results
        ],
        "findings": [
            {"repository": found.repository, **found.key._asdict()}
            | {"message": found.message, "verdict": said}
            for found, said in verdicts
        ],
    }


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    add = parser.add_argument
    add("folder", type=Path, metavar="FOLDER", help="the checkouts")
    add("--only", nargs="*", default=(), metavar="OWNER/NAME", help="these repositories alone")
    add("--reviewed", type=Path, metavar="DIR", help="what was said of the findings")
    add("--notebooks", action="store_true", help="check the notebooks instead of the files")
    add("--update", action="store_true", help="write the verdicts anew, empty for what is new")
    add("--list", action="store_true", help="print every finding")
    add("--json", type=Path, metavar="FILE", help="write everything found to this file")
    given = parser.parse_args(arguments)
    if given.update and not given.reviewed:
        parser.error("--update needs --reviewed, which says where the verdicts lie")
    return given


def main(arguments: Sequence[str] | None = None) -> int:
    """Check: 0 where all promises hold, 1 where one does not, 2 where there is nothing to check."""
    options = parse_arguments(arguments)
    try:
        checkouts = checkouts_below(options.folder)
        chosen = [each for each in checkouts if not options.only or each.name in options.only]
        reviewed = read_reviewed(options.reviewed, chosen) if options.reviewed else None
    except CheckoutError as error:
        print(error, file=sys.stderr)
        return 2
    if not chosen:
        print(f"no checkout below {options.folder} has that name", file=sys.stderr)
        return 2
    gc.disable()
    results = [checked(checkout, options.notebooks) for checkout in chosen]
    holds = report(results, reviewed, options.list)
    if options.update:
        update(options.reviewed, results, reviewed or {})
    if options.json:
        content = json.dumps(as_data(results, judged(results, reviewed or {})), indent=1)
        options.json.write_text(content + "\n", encoding="utf-8")
    return int(not holds)


if __name__ == "__main__":
    sys.exit(main())

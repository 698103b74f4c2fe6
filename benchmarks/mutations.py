"""How many forgotten moves devicelint finds and fixes, in real scripts.

    python benchmarks/mutations.py FOLDER [--only OWNER/NAME ...] [--list] [--json FILE]

Of every script below FOLDER that checks clean, each move is taken out, one at a time. README.md
says what a move is, and what becomes of the moves that a script does not need.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.checkouts import Checkout, CheckoutError, checkouts_below
from benchmarks.promised import all_kept
from benchmarks.redundant import reasons_for
from benchmarks.removed_moves import Judged, files_of, judged, mutants_of
from devicelint.workspace.project import Project

FOUND, REPAIRED = 0.90, 0.90
"""The least share of the harmful mutants that is found, and that all fixes repair."""

BETWEEN_COLLECTIONS = 100


def all_judged(checkout: Checkout, redundant: Path) -> Iterator[Judged]:
    """Yield every mutant of a checkout with what became of it.

    Raises:
        CheckoutError: the list of redundant moves cannot be read, or is about another commit.
    """
    reasons = reasons_for(redundant, checkout)
    project = Project()
    for number, mutant in enumerate(mutants_of(checkout, project), start=1):
        yield judged(mutant, project, reasons)
        if number % BETWEEN_COLLECTIONS == 0:
            gc.collect()


HEADS = ("scripts", "mutants", "redundant", "harmful", "found", "line", "fixed", "unsafe")


def table(results: Sequence[Judged]) -> Iterator[str]:
    """Yield a line for each repository, and one for all."""
    names = sorted({each.mutant.checkout.name for each in results})
    width = max(len(name) for name in (*names, "repository"))
    yield f"{'repository':{width}}" + "".join(f"{head:>11}" for head in HEADS)
    for name in [*names, "all"]:
        mine = [each for each in results if name in (each.mutant.checkout.name, "all")]
        yield f"{name:{width}}" + "".join(f"{cell:>11}" for cell in _cells(mine))


def _cells(results: list[Judged]) -> tuple[int, ...]:
    harmful = [each for each in results if each.is_harmful]
    return (
        len(files_of(results)),
        len(results),
        len(results) - len(harmful),
        len(harmful),
        sum(each.is_found for each in harmful),
        sum(each.names_line for each in harmful),
        sum(each.repaired for each in harmful),
        sum(each.repaired_unsafely for each in harmful),
    )


def promises(results: Sequence[Judged]) -> Iterator[tuple[bool, str]]:
    """Yield what is promised of the harmful mutants, and whether it holds."""
    harmful = [each for each in results if each.is_harmful]
    for label, count, least in (
        ("found", sum(each.is_found for each in harmful), FOUND),
        ("repaired by all fixes", sum(each.repaired_unsafely for each in harmful), REPAIRED),
    ):
        share = count / len(harmful) if harmful else 1.0
        yield share >= least, f"harmful mutants {label}: {share:.1%}, at least {least:.0%}"


def report(results: Sequence[Judged], full: bool) -> bool:
    """Print the table and what needs a reader; whether all promises hold."""
    print(*table(results), sep="\n", end="\n\n")
    for each in results:
        said = _said(each)
        if said or full:
            print(f"{said or 'found'}  {each.mutant}")
            for line, code, message in each.told:
                print(f"    {line}: {code} {message}")
    return all_kept(promises(results))


def _said(each: Judged) -> str:
    """What a reader should look into."""
    if each.reason:
        return "found, though redundant" if each.is_found else ""
    if not each.is_found:
        return "missed"
    if not each.names_line:
        return "found on another line"
    return "" if each.repaired_unsafely else "not repaired"


def as_data(results: Sequence[Judged]) -> list[dict[str, Any]]:
    """The whole run for `--json`; the move is the only code in it."""
    return [
        {
            "repository": each.mutant.checkout.name,
            "commit": each.mutant.checkout.commit,
            "file": each.mutant.file,
            "line": each.mutant.move.line,
            "column": each.mutant.move.column,
            "move": " ".join(each.mutant.move.text.split()),
            "findings": [list(told) for told in each.told],
            "names_line": each.names_line,
            "repaired": each.repaired,
            "repaired_unsafely": each.repaired_unsafely,
            "reason": each.reason,
        }
        for each in results
    ]


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    add = parser.add_argument
    add("folder", type=Path, metavar="FOLDER", help="the checkouts")
    add("--only", nargs="*", default=(), metavar="OWNER/NAME", help="these repositories alone")
    add(
        "--redundant",
        type=Path,
        default=Path(__file__).resolve().parent / "redundant_moves",
        metavar="DIR",
        help="the moves that scripts do not need",
    )
    add("--list", action="store_true", help="print every mutant")
    add("--json", type=Path, metavar="FILE", help="write the results to this file")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Mutate: 0 where all promises hold, 1 where one does not, 2 where nothing can be mutated."""
    options = parse_arguments(arguments)
    gc.disable()
    results: list[Judged] = []
    try:
        for checkout in checkouts_below(options.folder):
            if not options.only or checkout.name in options.only:
                results += all_judged(checkout, options.redundant)
    except CheckoutError as error:
        print(error, file=sys.stderr)
        return 2
    if not results:
        print(f"no script below {options.folder} checks clean and has a move", file=sys.stderr)
        return 2
    holds = report(results, options.list)
    if options.json:
        options.json.write_text(json.dumps(as_data(results), indent=1) + "\n", encoding="utf-8")
    return int(not holds)


if __name__ == "__main__":
    sys.exit(main())

"""First readings of repositories that nobody had opened.

    python -m benchmarks.readings                                   the ledger
    python -m benchmarks.readings sample CHECKOUTS --seed S --out FILE
    python -m benchmarks.readings check CHECKOUTS --batch N --out FILE
    python -m benchmarks.readings complete FOUND VERDICTS...
    python -m benchmarks.readings merge FOUND VERDICTS... --seen SEEN...
    python -m benchmarks.readings again CHECKOUTS VERDICTS...

README.md says in which order, and who may read.
"""

from __future__ import annotations

import argparse
import datetime
import gc
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.checkouts import Checkout, CheckoutError, checkouts_below
from benchmarks.readings.again import compared, read_lines
from benchmarks.readings.checking import (
    Read,
    analyser_commit,
    check,
    read_found,
    write_lines,
)
from benchmarks.readings.figures import judged, of_published
from benchmarks.readings.ledger import FOLDER, Batch, Skipped, as_toml, read_batch, read_ledger
from benchmarks.readings.sampling import sample
from benchmarks.readings.seen import held_against, read_seen
from benchmarks.readings.tables import as_data, batch_tables, ledger_table
from benchmarks.readings.verdicts import ReadingError, joined, read_verdicts

ROOT = FOLDER.parents[1]


def _entry_beside(found: Path) -> Path:
    """Where the ledger's entry lies until the verdicts are merged."""
    return found.with_name(f"{found.name}.toml")


def _chosen(options: argparse.Namespace) -> list[Checkout]:
    """The checkouts in the order in which they were asked for."""
    checkouts = {each.name: each for each in checkouts_below(options.folder)}
    missing = [name for name in options.only if name not in checkouts]
    if missing:
        raise CheckoutError(f"no checkout below {options.folder} is {', '.join(missing)}")
    return [checkouts[name] for name in options.only] if options.only else list(checkouts.values())


def show(options: argparse.Namespace) -> None:
    """Print the ledger."""
    ledger = read_ledger(options.ledger)
    batches = [judged(batch, ledger) for batch in ledger.batches]
    rows = [*map(of_published, ledger.published), *(each.figures for each in batches)]
    print(*ledger_table(rows), sep="\n", end="\n\n")
    for each in batches:
        print(f"batch {each.batch.number}, {each.batch.date}")
        print(*batch_tables(each), sep="\n")
        for skipped in each.batch.skipped:
            print(f"skipped  {skipped.repo}: {skipped.reason}")
    if options.json:
        text = json.dumps(as_data(rows, batches), indent=1)
        options.json.write_text(text + "\n", encoding="utf-8")


def check_batch(options: argparse.Namespace) -> None:
    """Check a batch, and write its findings for readers."""
    checkouts = _chosen(options)
    read_ledger(options.ledger).refuse_again(options.batch, (each.name for each in checkouts))
    commit = analyser_commit(ROOT)
    gc.disable()
    repositories: list[Read] = []
    found = []
    for checkout in checkouts:
        read, mine = check(checkout)
        repositories.append(read)
        found += mine
        print(f"{read.repo:45}{read.files:6}{read.notebooks:5}{read.lines:9}{len(mine):6}")
    today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    skipped = tuple(Skipped(*text.split(": ", 1)) for text in options.skipped)
    sizes = (options.batch, today, commit, len(found))
    batch = Batch(*sizes, tuple(repositories), skipped, tuple(options.vendored))
    write_lines(options.out, found)
    _entry_beside(options.out).write_text(as_toml(batch), encoding="utf-8")
    print(f"{batch.lines} lines, {len(found)} findings, devicelint {commit[:8]}")
    print(*(trouble for read in repositories for trouble in read.troubles), sep="\n")


def draw(options: argparse.Namespace) -> None:
    """Draw files that readers read before they see the findings."""
    drawn = sample(_chosen(options), options.seed, options.files, options.vendored)
    write_lines(options.out, drawn)
    print(*(f"{each.repo}  {each.file}  {each.lines}" for each in drawn), sep="\n")


def complete(options: argparse.Namespace) -> None:
    """Say whether every finding has its verdict."""
    said = [each for path in options.verdicts for each in read_verdicts(path)]
    print(f"{len(joined(read_found(options.found), said, {}))} findings, each with its verdict")


def merge(options: argparse.Namespace) -> None:
    """Enter a batch with its verdicts; the ledger stays as it is where one is missing."""
    ledger = read_ledger(options.ledger)
    batch = read_batch(_entry_beside(options.found))
    ledger.refuse_again(batch.number, batch.commits)
    found = read_found(options.found)
    said = [each for path in options.verdicts for each in read_verdicts(path)]
    verdicts = joined(found, said, batch.commits)
    seen = [held_against(each, found) for path in options.seen for each in read_seen(path)]
    lines = [json.dumps(each.as_data(), ensure_ascii=False) for each in verdicts]
    ledger.verdicts_of(batch.number).write_text("\n".join([*lines, ""]), encoding="utf-8")
    write_lines(ledger.seen_of(batch.number), seen)
    with (options.ledger / "ledger.toml").open("a", encoding="utf-8") as file:
        file.write("\n" + as_toml(batch))
    show(options)


def say_again(options: argparse.Namespace) -> None:
    """Say what is still reported of repositories that were read before."""
    gc.disable()
    checkouts = _chosen(options)
    before = read_lines(options.verdicts, (each.name for each in checkouts))
    read = {line.repo for line in before}
    found = [one for each in checkouts if each.name in read for one in check(each)[1]]
    again = compared(before, found)
    print(*again.table(), sep="\n")
    for one in again.new if options.new else ():
        print(f"new: {one}")


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.set_defaults(act=show, json=None)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to this file")
    parser.add_argument("--ledger", type=Path, default=FOLDER, metavar="DIR", help="another ledger")
    commands = parser.add_subparsers()

    def command(name: str, act: Callable[[argparse.Namespace], None]) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=act.__doc__)
        made.set_defaults(act=act)
        return made

    checking, drawing = command("check", check_batch), command("sample", draw)
    completing, merging = command("complete", complete), command("merge", merge)
    repeating = command("again", say_again)
    for each in (checking, drawing, repeating):
        each.add_argument("folder", type=Path, metavar="CHECKOUTS")
        each.add_argument("--only", nargs="+", default=(), metavar="OWNER/NAME")
    for each in (checking, drawing):
        each.add_argument("--vendored", nargs="+", default=(), metavar="OWNER/NAME/FOLDER")
        each.add_argument("--out", type=Path, required=True, metavar="FILE")
    for each in (completing, merging):
        each.add_argument("found", type=Path, metavar="FOUND")
    for each in (completing, merging, repeating):
        each.add_argument("verdicts", type=Path, nargs="+", metavar="VERDICTS")
    checking.add_argument("--batch", type=int, required=True, metavar="N")
    checking.add_argument("--skipped", nargs="+", default=(), metavar="'OWNER/NAME: WHY'")
    drawing.add_argument("--seed", type=int, required=True, metavar="S")
    drawing.add_argument("--files", type=int, default=20, metavar="N")
    merging.add_argument("--seen", type=Path, nargs="+", default=(), metavar="SEEN")
    repeating.add_argument("--new", action="store_true", help="name the places that are new")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what is asked: 0, or 2 where something is missing or was done before."""
    options = parse_arguments(arguments)
    try:
        options.act(options)
    except (CheckoutError, ReadingError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

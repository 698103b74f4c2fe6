"""Mistakes with devices that people made and repaired, mined from histories of repositories.

    python -m benchmarks.histories MIRROR [--half learn|measure] [--out FOLDER] [--json FILE]
    python -m benchmarks.histories mine MIRROR --out FILE [--only OWNER/NAME ...] [--seed S]
    python -m benchmarks.histories offer MIRROR FILE --out FOLDER
    python -m benchmarks.histories take MIRROR FOLDER READ --out CASES

The first says how many of them devicelint finds; the others are how they came about. MIRROR holds
repositories with their histories, as MIRROR/OWNER+NAME/repo. README.md says what a case is.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.checkouts import CheckoutError
from benchmarks.histories import judge, mine, offer, take


def mined(options: argparse.Namespace) -> int:
    """Write the candidates of repositories, in the order in which they are offered."""
    found: list[list[mine.Candidate]] = []
    for folder, name in mine.repositories_below(options.mirror):
        if not options.only or name in options.only:
            found.append(mine.candidates_of_all(folder, name))
            print(f"{name}: {len(found[-1])}", file=sys.stderr)
    ordered = list(mine.in_turn(found, options.seed))
    _write(options.out, [candidate.as_data() for candidate in ordered])
    print(f"{len(ordered)} candidates of {sum(map(bool, found))} repositories")
    return 0


def offered(options: argparse.Namespace) -> int:
    """Lay candidates out for readers, in parts."""
    candidates = [mine.Candidate.of(row) for row in take.rows([options.candidates])]
    parts = offer.lay_out(candidates, options.mirror, options.out)
    print(f"{len(candidates)} candidates in {parts} parts")
    return 0


def taken(options: argparse.Namespace) -> int:
    """Write the cases that readers have kept."""
    candidates = take.rows(sorted(options.candidates.glob("PART_*.jsonl")))
    read = list(take.rows(sorted(options.read.glob("PART_*.jsonl"))))
    cases = list(take.cases_from(candidates, read, options.mirror))
    _write(options.out, cases)
    print(f"{len(cases)} cases of {len({case['repo'] for case in cases})} repositories", end="")
    print(f", of {len({each['id'] for each in read})} candidates that were read")
    return 0


def _write(path: Path, objects: Sequence[object]) -> None:
    path.write_text("".join(f"{json.dumps(each)}\n" for each in objects), encoding="utf-8")


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    commands = parser.add_subparsers(metavar="COMMAND")
    add = _command(commands, "judge", judge.run, "find them (what is done without a command)")
    add("--half", choices=judge.HALVES, help="this half of the repositories alone")
    add("--cases", type=Path, default=judge.CASES, metavar="FILE", help="other cases")
    add("--only", nargs="*", default=(), metavar="ID", help="these cases alone")
    add("--out", type=Path, metavar="FOLDER", help="keep the learning half's code there")
    add("--json", type=Path, metavar="FILE", help="write the figures to a file")
    add = _command(commands, "mine", mined, "look for commits that change device tokens alone")
    add("--only", nargs="*", default=(), metavar="OWNER/NAME", help="these repositories alone")
    add("--out", type=Path, required=True, metavar="FILE", help="one candidate a line")
    add("--seed", type=int, default=0, help="decides the order within a repository")
    add = _command(commands, "offer", offered, "lay candidates out for readers")
    add("candidates", type=Path, metavar="FILE", help="what `mine` has written")
    add("--out", type=Path, required=True, metavar="FOLDER", help="outside of this repository")
    add = _command(commands, "take", taken, "make cases of what readers say")
    add("candidates", type=Path, metavar="FOLDER", help="what `offer` has written")
    add("read", type=Path, metavar="READ", help="a folder of PART_*.jsonl")
    add("--out", type=Path, required=True, metavar="CASES", help="one case a line")
    if arguments and arguments[0] not in {*commands.choices, "-h", "--help"}:
        arguments = ("judge", *arguments)
    return parser.parse_args(arguments)


def _command(
    commands: Any, name: str, run: Callable[[argparse.Namespace], int], told: str
) -> Callable[..., argparse.Action]:
    """A command that reads the repositories of a folder."""
    parser: argparse.ArgumentParser = commands.add_parser(name, help=told)
    parser.set_defaults(run=run)
    parser.add_argument("mirror", type=Path, metavar="MIRROR", help="OWNER+NAME/repo lie there")
    return parser.add_argument


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says; 2 where something is missing."""
    options = parse_arguments(sys.argv[1:] if arguments is None else arguments)
    try:
        return int(options.run(options))
    except (CheckoutError, OSError) as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())

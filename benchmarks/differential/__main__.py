"""Judge the linter by generated programs: what raises must be found, what runs must be silent.

    python -m benchmarks.differential --seed 1 --programs 1000 [--out FOLDER] [--json FILE]
    python -m benchmarks.differential --seed 1 2 3 --jobs 2 --minutes 10
    python -m benchmarks.differential --fix [--seed 1] [--programs 1000] [--out FOLDER]
    python -m benchmarks.differential --planted [--programs 2000]

Where torch sees a GPU, programs run on CUDA itself, and else on virtual GPUs; --on says otherwise.

README.md beside this defines what is counted.  The exit status is 0, whatever is found; with a
bound, 1 where it is exceeded; 2 where CUDA is not there, or is lost on the way.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

if TYPE_CHECKING:
    from benchmarks.differential.cuda import Cuda
    from benchmarks.differential.measuring import Found

PROGRAMS = 1000


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = _parser()
    options = parser.parse_args(arguments)
    # What a folder beside the current one means, before programs have one of their own.
    options.out = options.out and options.out.absolute()
    options.json = options.json and options.json.absolute()
    other = _planted if options.planted else _repaired if options.fix else None
    if other and options.on == "cuda":
        named = "--planted" if options.planted else "--fix"
        parser.error(f"{named} is for virtual GPUs: what is judged is in the linter")
    if other or options.on == "virtual":
        # Before torch is imported: what it sees then is the machine without a GPU.
        with patch.dict(os.environ, CUDA_VISIBLE_DEVICES=""):
            return other(options) if other else _measured(options, None)
    from benchmarks.differential.cuda import cuda_here

    cuda = cuda_here()
    if options.on == "cuda" and cuda is None:
        parser.error("--on cuda: torch sees no GPU on this computer")
    return _measured(options, cuda)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.differential",
        description=(__doc__ or "").splitlines()[0],
    )
    parser.add_argument(
        "--seed",
        "--seeds",
        type=_natural,
        nargs="+",
        default=[1],
        metavar="S",
        dest="seeds",
        help="which programs; 9001 to 9005 and 9101 to 9105 measure, and are not looked into",
    )
    parser.add_argument(
        "--programs", type=_natural, metavar="N", help=f"how many of each seed ({PROGRAMS})"
    )
    parser.add_argument("--minutes", type=float, metavar="M", help="stop each seed after so long")
    parser.add_argument("--jobs", type=_natural, default=1, help="seeds judged at the same time")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="write the failing cases there")
    parser.add_argument(
        "--shrink",
        type=_natural,
        metavar="N",
        help="how many of the commonest holes to reduce for --out (10)",
        default=10,
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    parser.add_argument(
        "--on",
        choices=("virtual", "cuda"),
        help="run on machines with virtual GPUs, or on this one alone (cuda, where it has a GPU)",
    )
    parser.add_argument("--planted", action="store_true", help="plant mistakes in the linter")
    parser.add_argument(
        "--fix",
        nargs="?",
        choices=("fix", "adopt"),
        const="fix",
        help="judge the safe fixes instead, or what adoption does",
    )
    parser.add_argument("--at-most-misses", type=_natural, metavar="N", help="a bound: else 1")
    parser.add_argument("--at-most-alarms", type=_natural, metavar="N", help="a bound: else 1")
    return parser


def _natural(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"no whole number from 0: {text!r}")
    return int(text)


def _measured(options: argparse.Namespace, cuda: Cuda | None) -> int:
    from benchmarks.differential.measuring import Order, measured
    from benchmarks.differential.report import as_json, report

    begun = time.perf_counter()
    count = PROGRAMS if options.programs is None else options.programs
    orders = [Order(seed, count, options.minutes, cuda) for seed in options.seeds]
    found = measured(orders, options.jobs)
    seconds = time.perf_counter() - begun
    holes = found.commonest()
    if options.json is not None:
        about = {"seeds": options.seeds, "cuda": cuda and cuda.name, "lost": found.lost}
        figures = {**about, **as_json(found.tally, holes, seconds)}
        options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    if options.out is not None and not found.lost:
        _write_cases(found, options, cuda)
    print("seeds", *options.seeds)
    print(*report(found.tally, holes, seconds, cuda), sep="\n")
    if found.lost:
        print(f"python -m benchmarks.differential: {found.lost}", file=sys.stderr)
        return 2
    return int(_exceeds(found, options))


def _write_cases(found: Found, options: argparse.Namespace, cuda: Cuda | None) -> None:
    from benchmarks.differential.cases import write_cases
    from benchmarks.differential.cuda import ContextLost

    try:
        for line in write_cases(found, options.out, options.shrink, cuda=cuda):
            print(line, flush=True)
    except ContextLost as lost:
        found.lost = f"reducing a case: {lost}"


def _exceeds(found: Found, options: argparse.Namespace) -> bool:
    bounds = (
        (found.tally.missed, options.at_most_misses),
        (found.tally.alarmed, options.at_most_alarms),
    )
    return any(most is not None and many > most for many, most in bounds)


def _repaired(options: argparse.Namespace) -> int:
    from benchmarks.differential.repairing import as_json, repaired_of, report, write_cases

    count = PROGRAMS if options.programs is None else options.programs
    repairs = repaired_of(options.seeds, count, options.fix, options.jobs)
    if options.json is not None:
        figures = {"seeds": options.seeds, "mode": options.fix, **as_json(repairs)}
        options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    if options.out is not None:
        write_cases(repairs, options.out)
    print("seeds", *options.seeds)
    print(*report(repairs), sep="\n")
    return 0


def _planted(options: argparse.Namespace) -> int:
    from benchmarks.differential.planted import report_planted

    count = 2000 if options.programs is None else options.programs
    for line in report_planted(options.seeds[0], count):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    # Programs are small: threads would only wait for each other.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())

"""Runs pytorch/examples on virtual GPUs, beside the CPU, and without each of their moves.

    python -m benchmarks.pytorch_examples CHECKOUT [--only PATTERN] [--mutants] [--json FILE]

CHECKOUT is a clone of pytorch/examples; nothing in it is changed. README.md says what is shown.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from pathlib import Path

from benchmarks.pytorch_examples.comparing import Compared, compare
from benchmarks.pytorch_examples.mutants import Mutant, mutants_of, run_mutant
from benchmarks.pytorch_examples.runs import RUNS, Run
from benchmarks.pytorch_examples.scratch import Scratch, ScratchError
from benchmarks.pytorch_examples.tables import as_data, lines_of_mutants, lines_of_runs


def main(argv: Sequence[str] | None = None) -> int:
    """Run what is asked for: 0 where all is well, 1 where something differs, 2 where it cannot."""
    given = _parser().parse_args(argv)
    chosen = [run for run in RUNS if fnmatch(run.name, given.only)]
    if not chosen:
        print(f"no run is called {given.only}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="pytorch-examples-") as temporary:
        scratch = Scratch(given.scratch or Path(temporary), given.checkout.resolve())
        try:
            scratch.install()
            return _report(scratch, chosen, given)
        except ScratchError as error:
            print(error, file=sys.stderr)
            return 2


def _report(scratch: Scratch, chosen: Sequence[Run], given: argparse.Namespace) -> int:
    with ThreadPoolExecutor(given.jobs) as pool:
        compared = list(_told(pool.map(lambda run: compare(scratch, run), chosen)))
        _print(lines_of_runs(compared))
        mutants: list[Mutant] = []
        if given.mutants:
            # A script that does not run as it is would say nothing without a move.
            sound = [each.run for each in compared if not each.fault and each.run.moves]
            found = [
                mutant
                for each in pool.map(lambda run: mutants_of(scratch, run), sound)
                for mutant in each
            ]
            mutants = list(pool.map(lambda mutant: run_mutant(scratch, mutant), found))
            _print(lines_of_mutants(mutants))
    if given.json is not None:
        given.json.write_text(json.dumps(as_data(compared, mutants), indent=1) + "\n")
    well = not any(each.fault for each in compared)
    return 0 if well and all(mutant.is_accounted_for for mutant in mutants) else 1


def _told(compared: Iterable[Compared]) -> Iterable[Compared]:
    """Each run, named as it is done, for whoever waits."""
    for each in compared:
        print(f"{each.run.name}: {each.fault or 'well'}", file=sys.stderr, flush=True)
        yield each


def _print(lines: Iterable[str]) -> None:
    print("\n".join(lines), end="\n\n", flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks.pytorch_examples", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("checkout", type=Path, metavar="CHECKOUT", help="a clone of pytorch/examples")
    add("--only", default="*", metavar="PATTERN", help="the runs whose names match")
    add("--mutants", action="store_true", help="run each script without each of its moves, too")
    add("--jobs", type=int, default=1, metavar="N", help="how many scripts run at a time")
    add("--scratch", type=Path, metavar="DIR", help="keep what is installed and made, here")
    add("--json", type=Path, metavar="FILE", help="write the results to FILE as well")
    return parser


if __name__ == "__main__":
    sys.exit(main())

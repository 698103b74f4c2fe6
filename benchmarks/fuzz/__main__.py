"""Whether any input makes a front end of devicelint fall over.

    python -m benchmarks.fuzz [--front-end cli notebook server cache] [--count 10000] [--first 0]

Each number is one malformed input, the same on every machine.  README.md says what is promised.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence

FRONT_ENDS = ("cli", "notebook", "server", "cache")
COUNT = 10_000
_AT_ONCE = 500
"""How many inputs one process takes, so that what one leaves behind meets others."""
_LONGEST = 120.0
"""In seconds: what takes longer hangs."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Try everything: 0 where nothing fell over, 1 where something did."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--front-end", nargs="+", choices=FRONT_ENDS, default=FRONT_ENDS)
    parser.add_argument("--count", type=int, default=COUNT, help="how many inputs for each")
    parser.add_argument("--first", type=int, default=0, help="the number of the first one")
    options = parser.parse_args(arguments)
    found = 0
    for front_end in options.front_end:
        began = time.perf_counter()
        faults = all_faults(front_end, options.first, options.first + options.count)
        taken = time.perf_counter() - began
        print(
            f"{front_end}: {options.count} inputs in {taken:.0f} s, {len(faults)} faults",
            flush=True,
        )
        found += len(faults)
    return int(bool(found))


def all_faults(front_end: str, first: int, end: int) -> list[str]:
    """What fell over: told at once, and returned."""
    found: list[str] = []
    while first < end:
        last = min(first + _AT_ONCE, end)
        told, first = _part(front_end, first, last)
        found += told
        print(*told, sep="\n", end="\n" if told else "", flush=True)
    return found


def _part(front_end: str, first: int, last: int) -> tuple[list[str], int]:
    """What fell over in one process, and the number to go on with."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "benchmarks.fuzz.child", front_end, str(first), str(last)]
        with subprocess.Popen([*command, folder], stdout=subprocess.PIPE, text=True) as child:
            return _watched(child, front_end, first, last)


def _watched(
    child: subprocess.Popen[str], front_end: str, first: int, last: int
) -> tuple[list[str], int]:
    assert child.stdout is not None
    told: list[str] = []
    number = first
    for line in child.stdout:
        kind, _, rest = line.rstrip("\n").partition(" ")
        if kind == "begin":
            number = int(rest)
        else:
            told.append(f"{front_end} {number}: {rest}")
    if child.wait() == 0:
        return told, last
    return [
        *told,
        f"{front_end} {number}: the process died with status {child.returncode}",
    ], number + 1


if __name__ == "__main__":
    sys.exit(main())

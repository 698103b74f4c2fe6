"""A process that tries some inputs, one after the other: `FRONT_END FIRST END FOLDER`.

It says `begin NUMBER` before each, and `fault …` for each thing that is wrong with it.
"""

from __future__ import annotations

import faulthandler
import sys
from pathlib import Path
from typing import TextIO

LONGEST = 120.0
"""In seconds: what takes longer hangs, and ends the process."""


def main(front_end: str, first: int, end: int, folder: Path) -> None:
    """Try the inputs of these numbers."""
    answers = sys.stdout
    if front_end == "server":
        from benchmarks.fuzz.server_front_end import try_all

        try_all(first, end, folder, answers)
        return
    from benchmarks.fuzz import cases
    from benchmarks.fuzz.cli_front_end import faults_after_damage, faults_of

    make = cases.cli_case if front_end == "cli" else cases.notebook_case
    for number in range(first, end):
        begin(number, answers)
        place = folder / "case"
        is_twice = front_end == "cache"
        found = faults_after_damage(number, place) if is_twice else faults_of(make(number), place)
        for fault in found:
            answers.write(f"fault {fault[-600:]!r}\n")


def begin(number: int, answers: TextIO) -> None:
    """Say which input comes, and give up where it takes too long."""
    answers.write(f"begin {number}\n")
    answers.flush()
    faulthandler.dump_traceback_later(LONGEST, exit=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))

"""Compare what devicelint says of fixed subjects with what it said before.

    python -m benchmarks.golden [--update]                            # pages and examples
    python -m benchmarks.golden --listings FOLDER --checkouts FOLDER  # these alone

README.md beside this says what is kept.  The exit status is 0 where nothing differs.
"""

from __future__ import annotations

import argparse
import difflib
import gc
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchmarks.golden import subjects
from benchmarks.golden.lines import lines_of
from benchmarks.golden.subjects import Subject

FOLDER = Path(__file__).parent
IN_FULL = frozenset({"pages", "examples"})
"""Of these the messages are kept; of what others wrote, digests."""
BETWEEN_COLLECTIONS = 100


def written(name: str, given: Iterable[Subject]) -> Iterator[str]:
    """Yield the lines of a golden file: each subject of which something is said."""
    for number, subject in enumerate(given, start=1):
        lines = lines_of(subject, in_full=name in IN_FULL)
        if lines:
            yield f"# {subject.name}"
            yield from lines
        if number % BETWEEN_COLLECTIONS == 0:
            gc.collect()


def compared(name: str, given: Iterable[Subject], *, update: bool) -> bool:
    """Print how a golden file differs from what is said now, or write it; whether it held."""
    path = FOLDER / f"{name}.txt"
    before = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    now = list(written(name, given))
    if update:
        path.write_text("".join(f"{line}\n" for line in now), encoding="utf-8")
    difference = difflib.unified_diff(before, now, str(path.name), "now", lineterm="", n=1)
    found = list(difference)
    if not update:
        print(*found, sep="\n", end="\n" if found else "")
    print(f"{name}: {len(now)} lines, {_verdict(found, update=update)}")
    return update or not found


def _verdict(found: list[str], *, update: bool) -> str:
    if not found:
        return "as before"
    return "written" if update else "DIFFERENT"


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--update", action="store_true", help="write the golden files anew")
    parser.add_argument("--listings", type=Path, metavar="FOLDER", help="articles in Markdown")
    parser.add_argument("--checkouts", type=Path, metavar="FOLDER", help="public repositories")
    options = parser.parse_args()
    wanted: dict[str, Iterable[Subject]] = {}
    if options.listings:
        wanted["listings"] = subjects.listings(options.listings)
    if options.checkouts:
        wanted["checkouts"] = subjects.checkouts(options.checkouts)
    if not wanted:
        wanted = {"pages": subjects.pages(), "examples": subjects.examples()}
    held = [compared(name, given, update=options.update) for name, given in wanted.items()]
    return int(not all(held))


if __name__ == "__main__":
    sys.exit(main())

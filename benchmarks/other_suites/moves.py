"""Takes moves out of public packages, and says which of them their tests miss on a virtual GPU.

    python -m benchmarks.other_suites.moves CHECKOUTS [--only NAME ...] [--each N] [--seed S]

CHECKOUTS is as for `benchmarks.other_suites`; the packages are copied, and the copies are changed.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.other_suites.recorder import RECORD
from benchmarks.other_suites.suites import Suite, command, environment, suites
from runtime_guard.mutation.marking import MarkedPlace, marked
from runtime_guard.mutation.moves import Move, moves_in

TESTS_EACH = 8
"""How many tests that come to a move are run without it."""


@dataclass
class Site:
    """A move of a package, and which tests need it.

    Attributes:
        file: the file.
        move: the move.
        tests: those that pass with it, and in which it placed something on a device.
    """

    file: Path
    move: Move
    tests: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Removed:
    """What became of tests without a move.

    Attributes:
        place: file, line and text of the move.
        noticed: whether one of them fails.
        error: what the first failure says.
    """

    place: str
    noticed: bool
    error: str


def sites(package: Path) -> list[Site]:
    """The moves in the sources of a package, its tests and examples left out."""
    files = sorted(package.rglob("*.py"))
    code = [one for one in files if not _is_beside(one.relative_to(package))]
    return [Site(file, move) for file in code for move in _moves(file)]


def _is_beside(path: Path) -> bool:
    beside = ("test", "example", "docs", "benchmark", "tutorial", "setup", "conftest")
    return any(part.startswith(beside) for part in path.parts)


def _moves(file: Path) -> tuple[Move, ...]:
    try:
        return moves_in(file.read_text("utf-8"))
    except (SyntaxError, UnicodeDecodeError):
        return ()


def mark(found: list[Site]) -> list[tuple[Site, bool]]:
    """Mark the value before and after each move; return the site of each mark, True for after."""
    marks: list[tuple[Site, bool]] = []
    for file in dict.fromkeys(site.file for site in found):
        places: list[MarkedPlace] = []
        first = len(marks)
        for site in found:
            if site.file == file:
                made, move = site.move.made, site.move
                places.append(made)
                marks.append((site, True))
                if made.start < move.start and move.end == made.end:
                    places.append(MarkedPlace(made.line, made.start, move.start))
                    marks.append((site, False))
        file.write_text(marked(file.read_text("utf-8"), places, first), "utf-8")
    return marks


def ran(suite: Suite, checkout: Path, tests: list[str], limit: float) -> list[dict[str, Any]]:
    """Run tests of a suite on a virtual GPU, and return what the recorder wrote."""
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder, "record")
        words = [*command(suite, tests, on_device=True), "-p", "benchmarks.other_suites.recorder"]
        environ = environment(suite, checkout, on_device=True) | {RECORD: str(record)}
        where = checkout / suite.folder
        words.append(f"--rootdir={where}")
        try:
            subprocess.run(
                words, cwd=where, env=environ, capture_output=True, timeout=limit, check=False
            )
        except subprocess.TimeoutExpired:
            print(f"{suite.name}: ended after {limit:.0f} s", file=sys.stderr)
        lines = record.read_text("utf-8").splitlines() if record.exists() else []
        return [json.loads(line) for line in lines]


def reach(marks: list[tuple[Site, bool]], record: list[dict[str, Any]]) -> None:
    """Note which tests that passed came to which moves, and whether these placed something."""
    for line in record:
        before: dict[int, set[str]] = {}
        after: dict[int, tuple[Site, set[str]]] = {}
        for place, devices in line["reached"].items():
            site, is_made = marks[int(place)]
            if is_made:
                after[id(site)] = site, set(devices)
            else:
                before[id(site)] = set(devices)
        for key, (site, devices) in after.items() if line["passed"] else ():
            moved = devices - {"", "cpu"} - before.get(key, {"cpu"})
            # A test that does not place anything there says nothing about the move.
            if moved:
                site.tests.add(line["test"])


def without(suite: Suite, checkout: Path, site: Site, choice: random.Random) -> Removed:
    """Run some of the tests that come to a move without it."""
    source = site.file.read_text("utf-8")
    tests = sorted(site.tests)
    chosen = choice.sample(tests, min(TESTS_EACH, len(tests)))
    site.file.write_text(site.move.removed(source), "utf-8")
    try:
        record = ran(suite, checkout, chosen, 300)
    finally:
        site.file.write_text(source, "utf-8")
    failed = [line["error"] for line in record if line["error"]]
    ended = len({line["test"] for line in record}) == len(chosen)
    place = f"{site.file.relative_to(checkout)}:{site.move}"
    return Removed(place, bool(failed) or not ended, _said(failed[0]) if failed else "")


def _said(text: str) -> str:
    """The first line of an exception in what pytest shows of a failure."""
    lines = [line[1:].strip() for line in text.splitlines() if line.startswith("E ")]
    return lines[0] if lines else text.strip().rpartition("\n")[2]


def measured(suite: Suite, checkout: Path, each: int, seed: int, minutes: float) -> list[Removed]:
    """Take `each` moves out of a package, one at a time, of those that its tests come to."""
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder, "marked")
        shutil.copytree(checkout, whole, symlinks=True)
        found = sites(whole / suite.sources)
        reach(mark(found), ran(suite, whole, suite.tests, minutes * 60))
        copy = Path(folder, "without")
        shutil.copytree(checkout, copy, symlinks=True)
        reached = [site for site in found if site.tests]
        print(f"{suite.name}: {len(found)} moves, {len(reached)} place something")
        for site in reached:
            site.file = copy / site.file.relative_to(whole)
        choice = random.Random(seed)
        chosen = choice.sample(reached, min(each, len(reached)))
        return [without(suite, copy, site, choice) for site in chosen]


def rows(found: dict[str, list[Removed]]) -> Iterator[str]:
    """The table, and below it what no test missed."""
    yield "| package | taken out | noticed | not noticed |"
    yield "| --- | --- | --- | --- |"
    every = [one for some in found.values() for one in some]
    for name, some in [*found.items(), ("**all**", every)]:
        noticed = sum(one.noticed for one in some)
        yield f"| {name} | {len(some)} | {noticed} | {len(some) - noticed} |"
    for name, some in found.items():
        yield from (f"{name} {one.place}" for one in some if not one.noticed)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.other_suites.moves",
        description=(__doc__ or "").partition("\n")[0],
    )
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these suites alone")
    parser.add_argument("--each", type=int, default=10, help="moves of a package")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=15, help="for the marked run of a suite")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was found")
    return parser.parse_args()


def main() -> int:
    """Run what the command line asks for."""
    given = _arguments()
    found: dict[str, list[Removed]] = {}
    for suite in suites():
        checkout = given.checkouts / suite.repository.replace("/", "+")
        wanted = not given.only or suite.name in given.only
        # What is installed would be tested as it is installed.
        if wanted and checkout.is_dir() and not suite.installed:
            found[suite.name] = measured(
                suite, checkout.resolve(), given.each, given.seed, given.minutes
            )
            if given.json:
                content = {name: [asdict(one) for one in some] for name, some in found.items()}
                given.json.write_text(f"{json.dumps(content, indent=2)}\n", "utf-8")
    print("\n".join(rows(found)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

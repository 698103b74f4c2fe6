"""Which functions are called with a tensor and give something unknown, the commonest first.

    python -m benchmarks.census CHECKOUTS [--only OWNER/NAME] [--first N] [--json FILE]

README.md says what is counted.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.census.walking import OWN, Census, listener_for
from benchmarks.checking import LIMIT, TookTooLong, limited
from benchmarks.corpora.subjects import subjects
from benchmarks.halves import half_of
from devicelint.cli.run.search import python_files
from devicelint.config import Config
from devicelint.finding import InputError
from devicelint.interpreter import explore
from devicelint.interpreter.engine.budget import BudgetExceeded
from devicelint.linter.program import program_of
from devicelint.linter.result import concerns_devices
from devicelint.workspace.files import read_source
from devicelint.workspace.project import Project


class Counts:
    """How many calls of each function give something unknown, and in how many repositories."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.repositories: defaultdict[str, set[str]] = defaultdict(set)
        self.known = 0

    def add(self, repository: str, census: Census) -> None:
        """Count one file. A call that is known in one walk is known."""
        self.known += len(census.known)
        for site, name in census.unknown.items():
            if site not in census.known:
                self.calls[name] += 1
                self.repositories[name].add(repository)

    def rows(self) -> list[tuple[int, int, str]]:
        """Calls, repositories and name of each function, the commonest first."""
        rows = [(n, len(self.repositories[name]), name) for name, n in self.calls.items()]
        return sorted(rows, key=lambda row: (-row[0], -row[1], row[2]))


def main(argv: Sequence[str] | None = None) -> int:
    """Walk through the learning half, and print the table."""
    arguments = _parser().parse_args(argv)
    counts = Counts()
    until = time.monotonic() + 60 * arguments.minutes
    for name, below in _chosen(arguments.checkouts, arguments.only):
        if time.monotonic() > until:
            break
        project = Project()
        for path in _files(below):
            census = census_of(path, project)
            if census is not None:
                counts.add(name, census)
        print(f"{name}: {sum(counts.calls.values())}", file=sys.stderr)
        if arguments.json is not None:
            found = {"known": counts.known, "unknown": counts.rows()}
            arguments.json.write_text(json.dumps(found, indent=1))
    print(_table(counts.known, counts.rows(), arguments.first))
    return 0


def census_of(path: Path, project: Project) -> Census | None:
    """What the calls of a file come to; None where none is followed."""
    census = Census()
    try:
        source = read_source(path)
        if not concerns_devices(source):
            return None
        with limited(LIMIT):
            program = program_of(source, project, Config(respect_gitignore=False))
            explore(program, listener_for, census.walker)
    except (BudgetExceeded, RecursionError, TookTooLong, InputError):
        return None
    return census


def _chosen(checkouts: Path, only: Sequence[str]) -> Iterator[tuple[str, list[Path]]]:
    """The repositories of the learning half, and where their code lies; subjects come first."""
    sources = {one.name: one.sources for one in subjects()}
    there = {folder.name.replace("+", "/", 1) for folder in checkouts.iterdir() if folder.is_dir()}
    for name in sorted(there, key=lambda one: (one not in sources, one.lower())):
        if half_of(name) == "learn" and (not only or name in only):
            folder = checkouts / name.replace("/", "+")
            yield name, [folder / source for source in sources.get(name, (".",))]


def _files(below: Sequence[Path]) -> Iterator[Path]:
    found = python_files([one for one in below if one.exists()], Config(respect_gitignore=False))
    return (path for path in found if isinstance(path, Path))


def _table(known: int, rows: Sequence[tuple[int, int, str]], first: int) -> str:
    own = sum(calls for calls, _, name in rows if name.startswith(OWN))
    every = sum(calls for calls, _, _ in rows)
    lines = [f"{known} calls with a tensor known, {every} unknown, {own} of them {OWN.strip(': ')}"]
    lines += [f"{calls:>6} {places:>4}  {name}" for calls, places, name in rows[:first]]
    return "\n".join(lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.census", description=__doc__)
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("--only", metavar="OWNER/NAME", nargs="+", default=())
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--first", type=int, default=200)
    parser.add_argument("--json", type=Path)
    return parser


if __name__ == "__main__":
    sys.exit(main())

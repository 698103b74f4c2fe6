"""Whether any file of any code makes devicelint crash, hang, or give up.

    python -m benchmarks.robustness [FOLDER]... [--packages torch numpy sklearn libcst] [--screened]

Every Python file below the folders, and of the installed packages, is walked with imports followed,
whether or not it speaks of torch.  README.md says what is promised.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.checking import Outcome, check_file
from devicelint.cli.run.search import python_files
from devicelint.config import Config
from devicelint.linter import lint
from devicelint.workspace.project import Project

PACKAGES = ("torch", "numpy", "sklearn", "libcst")
BETWEEN_COLLECTIONS = 100
GIVEN_UP = "is not checked: "


@dataclass
class Count:
    """What became of the files of one folder."""

    name: str
    files: int = 0
    seconds: float = 0.0
    slowest: Outcome | None = None
    unreadable: list[str] = field(default_factory=list)
    given_up: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        """Count one file."""
        self.files += 1
        self.seconds += outcome.seconds
        if self.slowest is None or outcome.seconds > self.slowest.seconds:
            self.slowest = outcome
        told = f"{outcome.path}: {outcome.told}"
        if outcome.fate in ("crashed", "unfinished"):
            self.faults.append(f"{outcome.fate}  {told}")
        elif outcome.fate == "unreadable":
            kept = self.given_up if GIVEN_UP in outcome.told else self.unreadable
            kept.append(outcome.told)

    def __str__(self) -> str:
        slow = self.slowest
        slowest = "" if slow is None else f"{slow.seconds:.1f} s for {slow.path.name}"
        return (
            f"{self.name:<40} {self.files:>6} files {self.seconds:>8.1f} s, {slowest}; "
            f"{len(self.unreadable)} no Python, {len(self.given_up)} given up, "
            f"{len(self.faults)} crashed or hung"
        )


def folders_of(packages: Sequence[str]) -> Iterator[Path]:
    """Where installed packages lie; those that are not there are passed over."""
    for name in packages:
        found = importlib.util.find_spec(name)
        if found is not None and found.origin is not None:
            yield Path(found.origin).parent


def counted(folder: Path) -> Count:
    """Check every file below a folder, one after the other."""
    count, project = Count(folder.name), Project()
    for number, path in enumerate(python_files([folder], Config(respect_gitignore=False)), start=1):
        if isinstance(path, Path):
            count.add(check_file(path, project))
        if number % BETWEEN_COLLECTIONS == 0:
            gc.collect()
    return count


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help="what to check")
    parser.add_argument("--packages", nargs="*", default=PACKAGES, help="installed ones, besides")
    parser.add_argument("--screened", action="store_true", help="pass over what has no torch")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Check everything: 0 where nothing crashed, hung or was given up, 1 where something was."""
    options = parse_arguments(arguments)
    if not options.screened:
        lint.screen = lambda data: True  # noqa: ARG005
    gc.disable()
    faults: list[str] = []
    for folder in (*options.folders, *folders_of(options.packages)):
        count = counted(folder)
        faults += (*count.given_up, *count.faults)
        print(count, flush=True)
    print(*faults, sep="\n")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())

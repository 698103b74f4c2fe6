"""Where mutants run: in the tests of a package, or in the scripts of a repository."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

Place = tuple[str, int]
"""A file below the copy, and a line."""


class BenchError(Exception):
    """Nothing of the subject can be run here, told in one line."""


@dataclass(frozen=True)
class Failure:
    """A test, or script, that failed.

    Attributes:
        test: its id, or name.
        told: the first line of the error.
        about_devices: whether the error is one of torch's about devices.
        places: the lines of the copy that it came through, the innermost last.
    """

    test: str
    told: str
    about_devices: bool
    places: tuple[Place, ...] = ()


class Bench(Protocol):
    """Runs the tests, or scripts, of a subject.

    Attributes:
        tree: a copy of the checkout as it is.
    """

    tree: Path

    def tests_that_reach(self, index: int) -> tuple[str, ...]:
        """Those that come to the place of a mutant, and pass with something on a GPU."""
        ...

    def run(self, texts: Mapping[str, str], tests: Sequence[str]) -> tuple[Failure, ...]:
        """Run some of them, with other texts for files; what fails."""
        ...

    def is_steady(self, test: str) -> bool:
        """Whether one passes without any mutant when it is run alone."""
        ...


class Several:
    """Benches that share a copy: what the first of them does not reach, the next one may."""

    def __init__(self, benches: Sequence[Bench]) -> None:
        self.tree = benches[0].tree
        self._benches = benches
        self._homes: dict[str, Bench] = {}

    def tests_that_reach(self, index: int) -> tuple[str, ...]:
        """Those of the first bench that has any."""
        for bench in self._benches:
            if tests := bench.tests_that_reach(index):
                self._homes.update(dict.fromkeys(tests, bench))
                return tests
        return ()

    def run(self, texts: Mapping[str, str], tests: Sequence[str]) -> tuple[Failure, ...]:
        """Run some that reach a mutant, with other texts for files; what fails."""
        return self._homes[tests[0]].run(texts, tests) if tests else ()

    def is_steady(self, test: str) -> bool:
        """Whether one passes without any mutant when it is run alone."""
        return self._homes[test].is_steady(test)


def first_line(told: str) -> str:
    """The first line of what an error says."""
    lines = [line.strip() for line in told.splitlines() if line.strip()]
    return lines[0][:300] if lines else ""

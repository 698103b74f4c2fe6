"""The programs of a seed: the same ones on every machine, with the same release of Hypothesis."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

from benchmarks.differential.grammar import programs
from benchmarks.differential.program import Program

AT_ONCE = 4
"""How many programs one run of Hypothesis draws: those after them are another run's.

From what it has drawn it makes others that differ in one place.  They are of no use here: of a
hundred drawn at once, two thirds were much like the one before.
"""


def programs_of(
    number: int, strategy: Callable[[], SearchStrategy[Program]] = programs
) -> Iterator[Program]:
    """The programs of a seed, each text once, without end."""
    seen: set[str] = set()
    part = 0
    while True:
        for program in _drawn(strategy(), number * 1_000_000 + part):
            if program.text not in seen:
                seen.add(program.text)
                yield program
        part += 1


def _drawn(strategy: SearchStrategy[Program], number: int) -> list[Program]:
    """What one run of Hypothesis draws, without the first: that is the simplest one, always."""
    found: list[Program] = []

    @seed(number)
    @settings(
        max_examples=AT_ONCE + 1,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def keep(program: Program) -> None:
        found.append(program)

    keep()
    return found[1:]

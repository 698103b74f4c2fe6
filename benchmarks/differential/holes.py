"""Names for what the linter does not see, and for what it sees where nothing is.

Cases of one hole have the same name: what wrote the line, what kind of error it raised, and in
which class of operations; or which rule spoke of it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from benchmarks.differential.judging import Alarm, Miss, Verdict
from benchmarks.differential.outcomes import NO_ACCELERATOR
from benchmarks.differential.program import Program

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MOST = 10
"""So many holes are shown."""


@dataclass(frozen=True, order=True)
class Hole:
    """What failing cases have in common.

    Attributes:
        failure: a miss, or a false alarm.
        what: the kind of error and the class of the operation; or the rule.
        feature: what wrote the line.
    """

    failure: Literal["miss", "false alarm"]
    what: str
    feature: str

    def __str__(self) -> str:
        return f"{self.failure}: {self.what}, at {self.feature}"


def holes_of(verdict: Verdict) -> Iterator[Hole]:
    """The holes that a program fell into, each once."""
    program = verdict.program
    misses = (hole_of_miss(program, miss) for miss in verdict.misses)
    alarms = (hole_of_alarm(program, alarm) for alarm in verdict.false_alarms)
    yield from dict.fromkeys((*misses, *alarms))


def hole_of_miss(program: Program, miss: Miss) -> Hole:
    """The hole of an error that was not found.

    Where a machine lacks the accelerator, every line that asks for one fails.
    """
    error = miss.error
    if error.kind == NO_ACCELERATOR:
        return Hole("miss", error.kind, "any line")
    what = " in ".join(filter(None, (error.kind, class_of(error.operation))))
    return Hole("miss", what, feature_of(program, error.line))


def hole_of_alarm(program: Program, alarm: Alarm) -> Hole:
    """The hole of a false alarm."""
    return Hole("false alarm", alarm.claim.rule, feature_of(program, alarm.line))


def feature_of(program: Program, line: int) -> str:
    """What wrote a line."""
    marks = program.at(line) if 0 < line <= len(program.marks) else frozenset()
    return " + ".join(sorted(marks)) or "the frame"


def class_of(operation: str) -> str:
    """The class of an operation of torch; its own name where it has none."""
    return _classes().get(operation.strip("_"), operation)


@cache
def _classes() -> Mapping[str, str]:
    text = Path(__file__).with_name("operations.toml").read_text(encoding="utf-8")
    classes: dict[str, list[str]] = tomllib.loads(text)["class"]
    return {operation: name for name, found in classes.items() for operation in found}

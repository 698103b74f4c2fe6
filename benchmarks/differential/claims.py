"""What a finding claims: on which machines the program fails, where, and on what condition."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

from benchmarks.differential.outcomes import MACHINES, Run
from benchmarks.differential.regions import line_starts
from devicelint.domain.worlds import World
from devicelint.finding import Certainty, Finding, Span

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Answer: TypeAlias = Literal["yes", "no", "unknown"]
Grade: TypeAlias = Literal["refutable", "apart", "by contract", "by belief"]

_BEST_FIRST: tuple[Answer, ...] = ("yes", "unknown")

FAILS_HERE = "fails here"
"""What rules say of the place at which torch would raise."""

_GRADES: Mapping[Certainty, Grade] = {
    Certainty.CERTAIN: "refutable",
    Certainty.CONTRACT: "by contract",
    Certainty.BELIEF: "by belief",
}


@dataclass(frozen=True)
class Seen:
    """A finding, and all that the linter knows of where it holds.

    Attributes:
        finding: the finding, which names the first of its worlds alone.
        worlds: the worlds in which it was reported.
        walked: the worlds in which the program was walked.
    """

    finding: Finding
    worlds: tuple[World, ...]
    walked: tuple[World, ...]


@dataclass(frozen=True)
class Holds:
    """Where a finding holds: on machines with so many GPUs, with options of the program set so."""

    gpus: frozenset[int]
    settings: tuple[tuple[str, bool], ...] = ()


@dataclass(frozen=True)
class Claim:
    """A finding, as far as it is judged.

    Attributes:
        rule: its name.
        grade: whether a run that goes through refutes it, or why it does not.
        holds: where it holds.
        line: where it stands.
        fails: the characters at which the program would raise.
        lines: all lines at which it stands, or to which it leads.
        unless: an option with which it would not hold, if that chooses the CPU.
        message: what it says.
    """

    rule: str
    grade: Grade
    holds: tuple[Holds, ...]
    line: int
    fails: tuple[int, ...]
    lines: frozenset[int]
    unless: str
    message: str

    @property
    def machines(self) -> frozenset[int]:
        """The machines on which it holds, by their number of GPUs."""
        return frozenset().union(*(each.gpus for each in self.holds))

    def is_of(self, run: Run) -> Answer:
        """Whether it holds on the machine of a run, where the conditions were as they were."""
        answers = [_all_set(each.settings, run) for each in self.holds if run.gpus in each.gpus]
        return next((answer for answer in _BEST_FIRST if answer in answers), "no")

    def condition(self, run: Run) -> Answer:
        """Whether the option that its message names was another device than the CPU."""
        return _is_elsewhere(self.unless, run) if self.unless else "yes"


def claims_of(text: str, seen: Iterable[Seen]) -> tuple[Claim, ...]:
    """What findings of a text claim."""
    line_of = line_starts(text)

    def lines_of(span: Span) -> range:
        return range(line_of(span.start), line_of(max(span.start, span.end - 1)) + 1)

    return tuple(
        Claim(
            finding.name,
            "apart" if finding.name in rules_apart() else _GRADES[finding.certainty],
            tuple(_holds(each)),
            line_of(finding.span.start),
            tuple(_fails(finding)),
            frozenset(line for span in _spans(finding) for line in lines_of(span)),
            _unless(finding.message),
            finding.message,
        )
        for each in seen
        for finding in (each.finding,)
    )


@cache
def rules_apart() -> Mapping[str, str]:
    """The rules whose findings no run refutes, each with what it says instead."""
    text = Path(__file__).with_name("claims.toml").read_text(encoding="utf-8")
    rules: dict[str, str] = tomllib.loads(text)["apart"]
    return rules


def _holds(seen: Seen) -> Iterator[Holds]:
    """A world with one GPU stands for machines with several, unless these were walked, too."""
    if not seen.finding.machine:
        yield Holds(frozenset(MACHINES))
        return
    counted = any(world.accelerators > 1 for world in seen.walked)
    several = frozenset(gpus for gpus in MACHINES if gpus > 1)
    for world in seen.worlds:
        gpus = frozenset({world.accelerators})
        if world.accelerators > 1 or (world.accelerators and not counted):
            gpus |= several
        yield Holds(gpus, world.settings)


def _fails(finding: Finding) -> Iterator[int]:
    """Where the program would raise: where a finding says so, or where it stands itself."""
    places = [each.span.start for each in finding.related if each.message == FAILS_HERE]
    yield from places or [finding.span.start]


def _spans(finding: Finding) -> Iterator[Span]:
    yield finding.span
    yield from (each.span for each in finding.related)
    if finding.fix is not None:
        yield from (edit.span for edit in finding.fix.edits)


def _unless(message: str) -> str:
    """The option that a message excepts: "unless `x` is the CPU", or "unless that is" after it."""
    named = message.partition("unless `")[2].partition("`")[0]
    before, excepted, _ = message.partition("` (unless that is the CPU)")
    return named or (before.rpartition("`")[2] if excepted else "")


def _all_set(settings: Iterable[tuple[str, bool]], run: Run) -> Answer:
    answers = [_is_set(key, chosen, run) for key, chosen in settings]
    if "no" in answers:
        return "no"
    return "unknown" if "unknown" in answers else "yes"


def _is_set(key: str, chosen: bool, run: Run) -> Answer:
    """Whether a condition came to this: as it was tested, or as the option was."""
    holder, _, name = key.rpartition(".")
    truths = run.conditions.get(_as_unparsed(key), frozenset())
    if not truths and holder.isidentifier() and name in run.flags:
        truths = frozenset({bool(run.flags[name])})
    if not truths:
        return "unknown"
    if chosen not in truths:
        return "no"
    return "yes" if len(truths) == 1 else "unknown"


def _as_unparsed(code: str) -> str:
    try:
        return ast.unparse(ast.parse(code, mode="eval"))
    except SyntaxError:
        return code


def _is_elsewhere(expression: str, run: Run) -> Answer:
    """Whether an option names another device than the CPU."""
    named = str(run.flags.get(expression.rpartition(".")[2], ""))
    if named.startswith("cpu"):
        return "no"
    return "yes" if named.startswith("cuda") else "unknown"

"""What a finding claims: on which machines the program fails, where, and on what condition."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

from benchmarks.differential.outcomes import MACHINES
from benchmarks.differential.regions import line_starts
from devicelint.finding import Certainty, Finding, Span

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Answer: TypeAlias = Literal["yes", "no", "unknown"]
Grade: TypeAlias = Literal["refutable", "apart", "by contract", "by belief"]

FAILS_HERE = "fails here"
"""What rules say of the place at which torch would raise."""

_MACHINES = {
    "": frozenset(MACHINES),
    "without an accelerator": frozenset({0}),
    "with an accelerator": frozenset(MACHINES) - {0},
    "with several accelerators": frozenset(MACHINES) - {0, 1},
}
_GRADES: Mapping[Certainty, Grade] = {
    Certainty.CERTAIN: "refutable",
    Certainty.CONTRACT: "by contract",
    Certainty.BELIEF: "by belief",
}


@dataclass(frozen=True)
class Claim:
    """A finding, as far as it is judged.

    Attributes:
        rule: its name.
        grade: whether a run that goes through refutes it, or why it does not.
        machines: the machines on which it holds, by their number of GPUs.
        line: where it stands.
        fails: the characters at which the program would raise.
        lines: all lines at which it stands, or to which it leads.
        settings: options of the program that it takes for granted, with their truth.
        unless: an option with which it would not hold, if that chooses the CPU.
        message: what it says.
    """

    rule: str
    grade: Grade
    machines: frozenset[int]
    line: int
    fails: tuple[int, ...]
    lines: frozenset[int]
    settings: tuple[tuple[str, bool], ...]
    unless: str
    message: str

    def condition(self, flags: Mapping[str, object]) -> Answer:
        """Whether what the finding takes for granted was so in a run with these options."""
        answers = [_is_set(key, chosen, flags) for key, chosen in self.settings]
        if self.unless:
            answers.append(_is_elsewhere(self.unless, flags))
        if "no" in answers:
            return "no"
        return "unknown" if "unknown" in answers else "yes"


def claims_of(text: str, findings: tuple[Finding, ...]) -> tuple[Claim, ...]:
    """What findings of a text claim."""
    line_of = line_starts(text)

    def lines_of(span: Span) -> range:
        return range(line_of(span.start), line_of(max(span.start, span.end - 1)) + 1)

    return tuple(
        Claim(
            finding.name,
            "apart" if finding.name in rules_apart() else _GRADES[finding.certainty],
            _machines(finding.machine),
            line_of(finding.span.start),
            tuple(_fails(finding)),
            frozenset(line for span in _spans(finding) for line in lines_of(span)),
            tuple(_settings(finding.machine)),
            _between(finding.message, "(unless `", "`"),
            finding.message,
        )
        for finding in findings
    )


@cache
def rules_apart() -> Mapping[str, str]:
    """The rules whose findings no run refutes, each with what it says instead."""
    text = Path(__file__).with_name("claims.toml").read_text(encoding="utf-8")
    rules: dict[str, str] = tomllib.loads(text)["apart"]
    return rules


def _machines(world: str) -> frozenset[int]:
    return _MACHINES[world.partition(", where ")[0]]


def _settings(world: str) -> Iterator[tuple[str, bool]]:
    """The options of "with an accelerator, where `args.cuda` and not `args.half`"."""
    _, _, settings = world.partition(", where ")
    for part in settings.split(" and ") if settings else ():
        yield part.removeprefix("not ").strip("`"), not part.startswith("not ")


def _fails(finding: Finding) -> Iterator[int]:
    """Where the program would raise: where a finding says so, or where it stands itself."""
    places = [each.span.start for each in finding.related if each.message == FAILS_HERE]
    yield from places or [finding.span.start]


def _spans(finding: Finding) -> Iterator[Span]:
    yield finding.span
    yield from (each.span for each in finding.related)
    if finding.fix is not None:
        yield from (edit.span for edit in finding.fix.edits)


def _between(text: str, before: str, after: str) -> str:
    return text.partition(before)[2].partition(after)[0]


def _is_set(key: str, chosen: bool, flags: Mapping[str, object]) -> Answer:
    name = key.rpartition(".")[2]
    if name not in flags:
        return "unknown"
    return "yes" if bool(flags[name]) is chosen else "no"


def _is_elsewhere(expression: str, flags: Mapping[str, object]) -> Answer:
    """Whether an option names another device than the CPU."""
    name = expression.rpartition(".")[2]
    if name not in flags:
        return "unknown"
    return "no" if str(flags[name]).startswith("cpu") else "yes"

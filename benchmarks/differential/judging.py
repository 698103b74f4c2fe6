"""Who is wrong: holds what the linter says of a program against what happened when it ran.

README.md beside this defines each of the words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from benchmarks.differential.claims import Claim
from benchmarks.differential.outcomes import DeviceError, Run
from benchmarks.differential.program import Program
from benchmarks.differential.regions import Watched

Role: TypeAlias = Literal["raises", "leads there", "cause", "culprit", "caller"]
"""What a line that a finding names has to do with an error; the first that fits."""
AlarmKind: TypeAlias = Literal[
    "false alarm", "on lines that ran", "condition unknown", "by contract", "by belief", "apart"
]


@dataclass(frozen=True)
class Hit:
    """A device error of which the linter had warned."""

    gpus: int
    error: DeviceError
    rule: str
    role: Role


@dataclass(frozen=True)
class Miss:
    """A device error of which the linter said nothing."""

    gpus: int
    error: DeviceError


@dataclass(frozen=True)
class Alarm:
    """A finding that the run of a machine speaks against.

    Attributes:
        gpus: the machine.
        kind: a false alarm, or why it is counted apart.
        claim: the finding.
        line: the line that should have raised, and ran.
    """

    gpus: int
    kind: AlarmKind
    claim: Claim
    line: int


@dataclass(frozen=True)
class Verdict:
    """What comes of one program.

    Attributes:
        program: the program.
        runs: what became of it on each machine.
        claims: what the linter said.
        hits: the device errors that it had found.
        misses: those that it had not.
        alarms: its findings that a run speaks against.
        fault: why the linter could not check the program; empty if it could.
    """

    program: Program
    runs: tuple[Run, ...]
    claims: tuple[Claim, ...]
    hits: tuple[Hit, ...]
    misses: tuple[Miss, ...]
    alarms: tuple[Alarm, ...]
    fault: str = ""

    @property
    def false_alarms(self) -> tuple[Alarm, ...]:
        """The alarms that count."""
        return tuple(alarm for alarm in self.alarms if alarm.kind == "false alarm")

    @property
    def raised(self) -> bool:
        """Whether a device error ended the program on any machine."""
        return any(run.ending == "device error" for run in self.runs)

    @property
    def passed(self) -> bool:
        """Whether the program ran through on any machine."""
        return any(run.ending == "passed" for run in self.runs)

    @property
    def failed_otherwise(self) -> bool:
        """Whether another error than one about devices ended it on any machine."""
        return any(run.ending == "other error" for run in self.runs)


def judged(
    program: Program,
    code: Watched,
    runs: Sequence[Run],
    claims: tuple[Claim, ...],
    fault: str = "",
) -> Verdict:
    """Hold the claims against the runs."""
    hits: list[Hit] = []
    misses: list[Miss] = []
    alarms: list[Alarm] = []
    for run in runs:
        ours = [claim for claim in claims if claim.is_of(run) != "no"]
        if run.error is not None:
            found = _found(run.gpus, run.error, ours)
            hits += found[:1]
            misses += [] if found else [Miss(run.gpus, run.error)]
        if run.ending != "other error":
            alarms += _alarms(code, run, ours)
    return Verdict(program, tuple(runs), claims, tuple(hits), tuple(misses), tuple(alarms), fault)


def _found(gpus: int, error: DeviceError, claims: Sequence[Claim]) -> list[Hit]:
    """The claims that stand at an error or lead to it, the closest first."""
    found = [(_roles(error, claim), claim) for claim in claims]
    close = sorted((roles[0], claim.rule) for roles, claim in found if roles)
    return [Hit(gpus, error, rule, ROLES[place]) for place, rule in close]


ROLES: tuple[Role, ...] = ("raises", "leads there", "cause", "culprit", "caller")


def _roles(error: DeviceError, claim: Claim) -> list[int]:
    """What the lines of a claim have to do with an error: indices of ROLES, the closest first."""
    lines = (
        {error.line},
        set(error.trace),
        error.causes,
        error.culprits,
        error.callers,
    )
    return [place for place, those in enumerate(lines) if claim.lines & those]


def _alarms(code: Watched, run: Run, claims: Sequence[Claim]) -> Iterator[Alarm]:
    """The claims of which each run line speaks: it should have raised, and went on."""
    line_of = code.line_of
    for claim in claims:
        if claim.condition(run) == "no":
            continue
        if run.error is not None and _roles(run.error, claim):
            continue
        ran = [line_of(at) for at in claim.fails if code.was_reached(at, run.reached)]
        refuted = [line for line in ran if line not in run.caught]
        if refuted and not claim.lines & run.caught:
            yield Alarm(run.gpus, _kind(claim, run), claim, refuted[0])


def _kind(claim: Claim, run: Run) -> AlarmKind:
    if claim.grade != "refutable":
        return claim.grade
    if "unknown" in (claim.condition(run), claim.is_of(run)):
        return "condition unknown"
    return "false alarm" if run.ending == "passed" else "on lines that ran"

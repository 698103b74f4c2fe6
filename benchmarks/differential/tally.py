"""What many verdicts come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, fields

from benchmarks.differential.judging import AlarmKind, Role, Verdict
from benchmarks.differential.outcomes import DeviceError, Ending


@dataclass
class Tally:
    """Counts of programs, unless a name says otherwise.

    Attributes:
        programs: how many were judged.
        lines: how many lines they had.
        raising: those that a device error ended on any machine.
        missed: those of them of which the linter did not find an error.
        passing: those that ran through on any machine.
        alarmed: those of them with a false alarm.
        failing: those that another error ended on any machine.
        faults: those that the linter could not check.
        processor_seconds: what generating, running, checking and judging took of a processor.
        endings: the runs of each machine, by how they ended.
        missed_runs: the runs of each machine of which the error was not found.
        alarmed_runs: the runs of each machine with a false alarm.
        kinds: the errors of each kind and machine, and those of them that were missed.
        missed_kinds: those of them that were missed.
        roles: how close the finding was to the error that it found, for each run.
        alarms: the alarms of each rule, by what they are; once for each program and line.
        raising_at: the errors on lines that a feature wrote.
        missed_at: those of them that were missed.
        passing_with: the programs that ran through and have the feature.
        alarmed_at: the false alarms on lines that a feature wrote.
        others: what other errors said, without the line.
    """

    programs: int = 0
    lines: int = 0
    raising: int = 0
    missed: int = 0
    passing: int = 0
    alarmed: int = 0
    failing: int = 0
    faults: int = 0
    processor_seconds: float = 0.0
    endings: Counter[tuple[int, Ending]] = field(default_factory=Counter)
    missed_runs: Counter[int] = field(default_factory=Counter)
    alarmed_runs: Counter[int] = field(default_factory=Counter)
    kinds: Counter[tuple[int, str]] = field(default_factory=Counter)
    missed_kinds: Counter[tuple[int, str]] = field(default_factory=Counter)
    roles: Counter[Role] = field(default_factory=Counter)
    alarms: Counter[tuple[str, AlarmKind]] = field(default_factory=Counter)
    raising_at: Counter[str] = field(default_factory=Counter)
    missed_at: Counter[str] = field(default_factory=Counter)
    passing_with: Counter[str] = field(default_factory=Counter)
    alarmed_at: Counter[str] = field(default_factory=Counter)
    others: Counter[str] = field(default_factory=Counter)

    def add(self, verdict: Verdict) -> None:
        """Count one more program."""
        self.programs += 1
        self.lines += len(verdict.program.marks)
        self.raising += verdict.raised
        self.missed += bool(verdict.misses)
        self.passing += verdict.passed
        self.alarmed += bool(verdict.false_alarms)
        self.failing += verdict.failed_otherwise
        self.faults += bool(verdict.fault)
        self._add_runs(verdict)
        self._add_features(verdict)

    def __iadd__(self, other: Tally) -> Tally:
        for each in fields(self):
            mine = getattr(self, each.name)
            mine += getattr(other, each.name)
            setattr(self, each.name, mine)
        return self

    def _add_runs(self, verdict: Verdict) -> None:
        self.endings.update((run.gpus, run.ending) for run in verdict.runs)
        self.others.update({_without_line(run.said) for run in verdict.runs if run.said})
        self.missed_runs.update(miss.gpus for miss in verdict.misses)
        self.alarmed_runs.update({alarm.gpus for alarm in verdict.false_alarms})
        self.roles.update(hit.role for hit in verdict.hits)
        self.missed_kinds.update((miss.gpus, miss.error.kind) for miss in verdict.misses)
        self.kinds.update(
            (run.gpus, run.error.kind) for run in verdict.runs if run.error is not None
        )
        told = {(alarm.claim.rule, alarm.kind, alarm.line) for alarm in verdict.alarms}
        self.alarms.update((rule, kind) for rule, kind, _ in told)

    def _add_features(self, verdict: Verdict) -> None:
        program = verdict.program
        raised = (run.error for run in verdict.runs if run.error is not None)
        for line in _lines(raised):
            self.raising_at.update(program.at(line))
        for line in _lines(miss.error for miss in verdict.misses):
            self.missed_at.update(program.at(line))
        if verdict.passed:
            self.passing_with.update(program.features)
        for line in {alarm.line for alarm in verdict.false_alarms}:
            self.alarmed_at.update(program.at(line))

    def per_thousand(self, count: int) -> float:
        """So many of a thousand programs."""
        return 1000 * count / self.programs if self.programs else 0.0


def _lines(errors: Iterator[DeviceError]) -> set[int]:
    """The lines on which errors were raised, each once: two machines often say the same."""
    return {error.line for error in errors if error.line}


def _without_line(said: str) -> str:
    return said.partition(": ")[2]

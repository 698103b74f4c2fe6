"""Judges fixes by generated programs: none may harm a run, and what it was for must be gone.

README.md beside this defines what is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from difflib import unified_diff
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeAlias

from benchmarks.checking import TookTooLong, limited
from benchmarks.differential.generating import programs_of
from benchmarks.differential.measuring import each_of
from benchmarks.differential.outcomes import Run
from benchmarks.differential.program import Program
from benchmarks.differential.report import plain, table
from benchmarks.differential.running import Ran
from benchmarks.differential.trial import BATCH, Trial, trial
from devicelint.config import Config
from devicelint.finding import Finding
from devicelint.linter import lint
from devicelint.text.source import SourceFile
from devicelint.workspace.project import Project

Mode: TypeAlias = Literal["fix", "adopt"]
"""What is made: the safe fixes of a check, or all that adoption does."""

LIMIT = 300
"""In seconds: fixing one program takes no longer."""


@dataclass(frozen=True)
class Repair:
    """A program, what fixes made of it, and how both ran.

    Attributes:
        before: the program and its runs.
        after: the same of what the fixes made of it.
        fixed: what was fixed, and what was left.
    """

    before: Ran
    after: Ran
    fixed: lint.Fixed

    @property
    def harms(self) -> tuple[str, ...]:
        """What is worse than before: a sentence for each machine."""
        pairs = zip(self.before.runs, self.after.runs, strict=True)
        return tuple(filter(None, (_harm(*pair) for pair in pairs)))

    @property
    def is_clean(self) -> bool:
        """Whether nothing is left to report."""
        return not self.fixed.remaining

    @property
    def raised(self) -> bool:
        """Whether a device error ended the program before."""
        return any(run.ending == "device error" for run in self.before.runs)

    @property
    def still_raises(self) -> bool:
        """Whether one does, although nothing is left to report."""
        return self.is_clean and any(run.ending == "device error" for run in self.after.runs)


def _harm(before: Run, after: Run) -> str:
    where = f"with {before.gpus} GPUs"
    if before.ending == "passed" and after.ending != "passed":
        told = (
            after.said if after.error is None else f"line {after.error.line}: {after.error.message}"
        )
        return f"{where}: ran through before, and now: {told}"
    if before.ending == "passed" and not before.gpus and before.losses != after.losses:
        return f"{where}: another loss than before"
    return ""


@dataclass
class Repairs:
    """Counts of programs, unless a name says otherwise.

    Attributes:
        programs: how many there were.
        changed: those that fixes changed.
        harmed: those of them that ran worse on any machine.
        raised: those of them that raised a device error on any machine before.
        clean: those of these of which nothing is left to report.
        still_raising: those of these that raise a device error nevertheless.
        faults: those that could not be fixed, by what was said.
        found: the findings of each rule.
        offered: those of them that come with a fix, by the rule and whether that is safe.
        refused: those whose safe fix was not kept, by the rule and the reason.
        cases: what was harmed and what still raises: the fixed text, what happened, and the fixes.
    """

    programs: int = 0
    changed: int = 0
    harmed: int = 0
    raised: int = 0
    clean: int = 0
    still_raising: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    offered: Counter[tuple[str, str]] = field(default_factory=Counter)
    refused: Counter[tuple[str, str]] = field(default_factory=Counter)
    cases: list[tuple[str, str]] = field(default_factory=list)

    def add(self, repair: Repair) -> None:
        """One more program that was changed."""
        self.changed += 1
        self.harmed += bool(repair.harms)
        self.raised += repair.raised
        self.clean += repair.raised and repair.is_clean
        self.still_raising += repair.still_raises
        if repair.harms or repair.still_raises:
            self.cases.append((repair.after.program.text, _told(repair)))

    def count(self, first: Sequence[Finding], fixed: lint.Fixed) -> None:
        """What was found at first, and what of it a fix is offered for."""
        for each in first:
            self.found[each.name] += 1
            if each.fix is not None:
                self.offered[each.name, each.fix.safety.value] += 1
        for each, why in fixed.reasons.items():
            self.refused[each.name, _without_place(why)] += 1

    def __iadd__(self, other: Repairs) -> Repairs:
        for each in fields(self):
            mine = getattr(self, each.name)
            mine += getattr(other, each.name)
            setattr(self, each.name, mine)
        return self


def _told(repair: Repair) -> str:
    still = [
        f"with {run.gpus} GPUs: still raises in line {run.error.line}: {run.error.message}"
        for run in repair.after.runs
        if run.error is not None and repair.is_clean
    ]
    made = [f"fixed: {one.name}: {one.message}" for one in repair.fixed.applied]
    before, after = (each.program.text.splitlines() for each in (repair.before, repair.after))
    return "\n".join([*repair.harms, *still, *made, *unified_diff(before, after, n=0, lineterm="")])


def _without_place(why: str) -> str:
    return why.partition(" in line ")[0]


@dataclass(frozen=True)
class _Work:
    """Fixes programs that stand for one file."""

    one: Trial
    mode: Mode
    repairs: Repairs = field(default_factory=Repairs)

    def batch(self, programs: Sequence[Program]) -> None:
        """Fix and run so many programs."""
        self.repairs.programs += len(programs)
        pairs = [(each, fixed) for each in programs if (fixed := self._fixed(each)) is not None]
        if not pairs:
            return
        texts = [Program(fixed.after.text, ()) for _, fixed in pairs]
        before = self.one.ran(each for each, _ in pairs)
        for first, last, (_, fixed) in zip(
            list(before), list(self.one.ran(texts)), pairs, strict=True
        ):
            self.repairs.add(Repair(first, last, fixed))

    def _fixed(self, program: Program) -> lint.Fixed | None:
        """What fixes make of a program; None where they change nothing."""
        source, config, project = SourceFile(program.text, self.one.file), Config(), Project()
        config = config if self.mode == "fix" else config.for_adoption()
        try:
            with limited(LIMIT):
                checked = lint.check(source, config, project)
                fixed = lint.fix(source, config, project, known=checked)
        except (Exception, TookTooLong) as error:  # noqa: BLE001 - whatever it is, it is counted
            self.repairs.faults[f"{type(error).__name__}: {error}"] += 1
            return None
        self.repairs.count(checked.findings, fixed)
        return fixed if fixed.after.text != source.text else None


def repaired(seed: int, programs: int, mode: Mode) -> Repairs:
    """Fix the first programs of a seed, and run what came of it."""
    with trial() as one:
        work = _Work(one, mode)
        waiting = islice(programs_of(seed), programs)
        while batch := list(islice(waiting, BATCH)):
            work.batch(batch)
    return work.repairs


def repaired_of(seeds: Sequence[int], programs: int, mode: Mode, jobs: int = 1) -> Repairs:
    """Do so for several seeds, so many at the same time."""
    repairs = Repairs()
    for part in each_of(partial(repaired, programs=programs, mode=mode), seeds, jobs):
        repairs += part
    return repairs


def report(repairs: Repairs) -> Iterator[str]:
    """The lines that are printed; the last one says it all."""
    yield f"{repairs.programs} programs, {repairs.changed} changed by fixes"
    for told, count in repairs.faults.most_common():
        yield f"  could not be fixed, {count} programs: {told}"
    yield ""
    yield from table(("rule", "findings", "safe fix", "unsafe fix", "no fix"), _offers(repairs))
    yield ""
    refused = ((rule, why, count) for (rule, why), count in repairs.refused.most_common())
    yield from table(("rule", "a fix was not kept", "findings"), refused)
    yield ""
    yield (
        f"harmed {repairs.harmed} of {repairs.changed} changed, "
        f"still raising {repairs.still_raising} of {repairs.clean} that check clean after fixes, "
        f"{repairs.raised} raised before"
    )


def _offers(repairs: Repairs) -> Iterator[tuple[object, ...]]:
    for rule, count in repairs.found.most_common():
        safe, unsafe = (repairs.offered[rule, kind] for kind in ("safe", "unsafe"))
        yield rule, count, safe, unsafe, count - safe - unsafe


def as_json(repairs: Repairs) -> dict[str, Any]:
    """The figures as plain values."""
    return {
        name: plain(value) if isinstance(value, Counter) else value
        for name, value in vars(repairs).items()
        if name != "cases"
    }


def write_cases(repairs: Repairs, folder: Path) -> None:
    """Write what was harmed and what still raises, the shortest first."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, (text, told) in enumerate(sorted(repairs.cases, key=lambda case: len(case[0]))):
        below = "".join(f"# {line}\n" for line in told.splitlines())
        (folder / f"{number:03}.py").write_text(f"{text}\n{below}", encoding="utf-8")

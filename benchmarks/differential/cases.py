"""Writes what fell into a hole to a folder: the program, reduced, what ran, and what was said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.differential.cuda import Cuda
from benchmarks.differential.holes import Hole, holes_of
from benchmarks.differential.judging import Verdict
from benchmarks.differential.measuring import Found
from benchmarks.differential.outcomes import Run
from benchmarks.differential.program import Program
from benchmarks.differential.shrinking import shrunk
from benchmarks.differential.trial import Trial, trial


def write_cases(
    found: Found, folder: Path, most: int, *, cuda: Cuda | None = None
) -> Iterator[str]:
    """Write the commonest holes, each with its shortest program reduced; says what it wrote."""
    folder.mkdir(parents=True, exist_ok=True)
    with trial(cuda=cuda) as one:
        for number, (hole, count) in enumerate(found.commonest(most), start=1):
            example = found.examples[hole][0]
            verdict = reduced(one, example, hole)
            path = folder / f"{number:02}-{_word(hole)}.py"
            header = f"{hole} ({count} programs)"
            path.write_text(case(verdict, header), encoding="utf-8")
            before, after = len(example.marks), len(verdict.program.marks)
            yield f"{path.name}: {header}, {before} lines reduced to {after}"


def reduced(one: Trial, program: Program, hole: Hole) -> Verdict:
    """The verdict on the shortest program of the same hole, which ends alike on each machine.

    Without that, the shortest is often one that fails for want of a GPU, and is missed for that.
    """
    (given,) = one.verdicts([program])

    def keeps(candidate: Program) -> bool:
        (verdict,) = one.verdicts([candidate])
        return hole in holes_of(verdict) and _endings(verdict) == _endings(given)

    return next(one.verdicts([shrunk(program, keeps)]))


def _endings(verdict: Verdict) -> list[str]:
    return [run.ending for run in verdict.runs]


def case(verdict: Verdict, header: str) -> str:
    """The text of a file: a program, and below it what happened."""
    told = [header, *_told(verdict)]
    marks = (
        f"{number}: {', '.join(sorted(marks))}"
        for number, marks in enumerate(verdict.program.marks, start=1)
        if marks
    )
    below = [*told, "", "what wrote each line:", *marks]
    return verdict.program.text + "\n" + "\n".join(f"# {line}".rstrip() for line in below) + "\n"


def _told(verdict: Verdict) -> Iterator[str]:
    for run in verdict.runs:
        yield f"with {run.gpus} GPUs: {_ended(run)}"
    for claim in verdict.claims:
        machines = ", ".join(map(str, sorted(claim.machines)))
        yield f"line {claim.line}: {claim.rule} ({claim.grade}; GPUs: {machines}): {claim.message}"
    if not verdict.claims:
        yield "the linter says nothing"
    for alarm in verdict.alarms:
        yield f"{alarm.kind} with {alarm.gpus} GPUs: line {alarm.line} ran"


def _ended(run: Run) -> str:
    if run.error is None:
        return run.said or "ran through"
    lines = ", ".join(map(str, run.error.trace))
    culprits = ", ".join(map(str, sorted(run.error.culprits)))
    return f"line {lines}: {run.error.message} (operands of lines {culprits})"


def _word(hole: Hole) -> str:
    """The hole as the name of a file."""
    words = f"{hole.failure} {hole.what} {hole.feature}".lower()
    return "-".join("".join(c if c.isalnum() else " " for c in words).split())[:80]

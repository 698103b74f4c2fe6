"""What runs said, in a terminal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runtime_guard.mutation.machines import Proof, is_on_accelerator
from runtime_guard.mutation.mutation import Mutant, Mutation
from runtime_guard.mutation.plan import Failure
from runtime_guard.mutation.running import Job, Run
from runtime_guard.profiler.report.tables import cells, titled_table
from runtime_guard.profiler.report.words import amount, counted, device, printable, short_path

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

MEANINGS = {
    "needed": "without it, a device error follows, or parameters are trained elsewhere",
    "redundant": "without it, the script passes all the same",
    "unreached": "the script never reaches it, so nothing is known about it",
    "broken": "without it, something else fails",
    "timed out": "without it, the script does not end in time",
}


@dataclass(frozen=True, slots=True)
class MutationTable:
    """The moves of a script, for `rich.print`."""

    mutation: Mutation

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterable[RenderableType]:
        from rich.text import Text

        mutation = self.mutation
        yield Text(_about(mutation.job, mutation.devices, mutation.whole), style="dim")
        yield Text(summary(mutation), style="bold")
        if not mutation.mutants:
            return
        table = titled_table("Moves")
        table.add_column("Line", justify="right", no_wrap=True)
        for name in ("Move", "", "Without it"):
            table.add_column(name, overflow="fold", min_width=9)
        for mutant in mutation.mutants:
            move = mutant.move
            shown = " ".join(move.text.split())
            table.add_row(
                *cells([str(move.line), shown, mutant.verdict, without(mutant, mutation.job)])
            )
        yield Text()
        yield table


@dataclass(frozen=True, slots=True)
class ProofTable:
    """What a script did on each machine, for `rich.print`."""

    proof: Proof

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterable[RenderableType]:
        proof = self.proof
        columns = [("Before", proof.before), ("After", proof.after)]
        if proof.before is None:
            columns = [("", proof.after)]
        table = titled_table(f"What {printable(short_path(proof.job.script))} does")
        for name in ("Machine", *(name for name, _ in columns)):
            table.add_column(name, overflow="fold", min_width=9)
        for index, machine in enumerate(proof.machines()):
            runs = [runs[index] for _, runs in columns if runs is not None]
            table.add_row(*cells([machine, *(outcome(run, proof.job) for run in runs)]))
        yield table
        yield from _below(proof)


def _below(proof: Proof) -> Iterable[RenderableType]:
    from rich.text import Text

    if proof.agreement is not None:
        text = proof.agreement.text
        yield Text(printable(f"{text[0].upper()}{text[1:]}"))
    lines = ", ".join(map(str, proof.unreached()))
    places = [*([f"line {lines}"] if lines else []), *proof.unreached_elsewhere()]
    if places:
        which = ", ".join(places)
        yield Text(printable(f"No run reached the new code on {which}: run more steps."))


def summary(mutation: Mutation) -> str:
    """`5 moves: 3 needed, 1 redundant, 1 unreached`."""
    if not mutation.mutants:
        return "No moves between devices"
    counts = [f"{amount(count)} {name}" for name, count in mutation.count().items() if count]
    return f"{counted(len(mutation.mutants), 'move')}: {', '.join(counts)}"


def without(mutant: Mutant, job: Job) -> str:
    """What happens without a move."""
    if mutant.run is None:
        return "not run: the script never reaches this line"
    if mutant.verdict != "redundant":
        return outcome(mutant.run, job)
    trained = mutant.run.digest
    if mutant.same:
        same = "the same parameters, bit for bit" if trained else "the same is printed"
    else:
        same = "other parameters" if trained else "something else is printed"
    return f"passes; {same}"


def outcome(run: Run, job: Job) -> str:
    """What came of a run, for people."""
    if run.ending == "timed out":
        return f"not ended after {job.timeout:g} s, {counted(run.steps, 'step')}"
    if run.failure is not None:
        return described(run.failure, job.script)
    if not run.steps:
        return "passes; no optimizer made a step"
    where = ", ".join(device(name) for name in run.devices)
    silent = run.gpus > 0 and not is_on_accelerator(run)
    unused = ": the GPU is not used" if silent else ""
    what = "losses" if run.by_hand else "parameters"
    return f"{counted(run.steps, 'step')}, {what} on {where}{unused}"


def described(failure: Failure, script: str) -> str:
    """`line 12: RuntimeError: …`, with the file where it is another one."""
    from pathlib import Path

    message = f"{failure.type}: {failure.message}" if failure.type else failure.message
    if not failure.file:
        return message
    is_script = Path(failure.file).resolve() == Path(script).resolve()
    place = f"line {failure.line}" if is_script else f"{short_path(failure.file)}:{failure.line}"
    return f"{place}: {message}"


def _about(job: Job, devices: int, whole: Run) -> str:
    words = " ".join([short_path(job.script), *job.arguments])
    machine = f"a virtual machine with {counted(devices, 'GPU')}"
    return printable(f"{words} (on {machine}, {counted(whole.steps, 'step')})")

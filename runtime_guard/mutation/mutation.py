"""Takes out each move of a script in turn, runs what is left, and says which moves are needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from runtime_guard.mutation.marking import marked
from runtime_guard.mutation.moves import Move, moves_in
from runtime_guard.mutation.running import Job, Replacement, Run, ScriptMachine, each, run
from runtime_guard.mutation.source import ScriptSource

Verdict: TypeAlias = Literal["needed", "redundant", "unreached", "broken", "timed out"]
"""What a run without a move says of it.

It is `needed` where a device error follows, or where parameters are trained on another device,
`redundant` where the run passes all the same, `unreached` where the script as it is never made it,
`broken` where something else goes wrong.
"""

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A move, and what comes of the script without it.

    Attributes:
        move: what is taken out.
        verdict: whether it is needed.
        run: the run without it; None for a move that is never made.
        same: whether that run came to the same numbers, to the last bit; None where it did not
            pass.
    """

    move: Move
    verdict: Verdict
    run: Run | None = None
    same: bool | None = None


@dataclass(frozen=True, slots=True)
class Mutation:
    """A script, and what its moves are needed for.

    Attributes:
        job: what was run.
        devices: how many virtual GPUs the machine had.
        whole: the run of the script as it is.
        mutants: one for each move, in the order of the text; none where the script does not pass.
    """

    job: Job
    devices: int
    whole: Run
    mutants: tuple[Mutant, ...]

    def count(self) -> dict[Verdict, int]:
        """How many moves there are of each verdict."""
        counted = Counter(mutant.verdict for mutant in self.mutants)
        return {verdict: counted[verdict] for verdict in VERDICTS}


def mutate(
    job: Job,
    source: ScriptSource,
    devices: int,
    *,
    jobs: int = 1,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> Mutation:
    """Run a script as it is, and then without each of the moves that it made.

    Args:
        job: the script, and how it is run.
        source: its text.
        devices: how many virtual GPUs the machine has.
        jobs: how many runs there are at the same time.
        progress: called with the number of runs that are done and of those that there will be.
    """
    moves = moves_in(source.text)
    marks = [move.made for move in moves]
    machine = ScriptMachine(devices)
    whole = run(
        job, [Replacement(source.encoded(marked(source.text, marks)), source.data)], machine
    )
    if whole.ending != "passed":
        return Mutation(job, devices, whole, ())
    made = [move for index, move in enumerate(moves) if index in whole.reached]
    results: dict[Move, Mutant] = {}
    progress(0, len(made))

    def attempt(move: Move) -> None:
        without = run(job, [Replacement(source.encoded(move.removed(source.text)))], machine)
        results[move] = judged(move, without, whole)
        progress(len(results), len(made))

    each(attempt, made, jobs)
    mutants = tuple(results.get(move) or Mutant(move, "unreached") for move in moves)
    return Mutation(job, devices, whole, mutants)


def judged(move: Move, without: Run, whole: Run) -> Mutant:
    """What a run without a move says of it, beside the run of the whole script."""
    if without.ending == "timed out":
        return Mutant(move, "timed out", without)
    verdict: Verdict
    if without.failure is not None:
        verdict = "needed" if without.failure.about_devices else "broken"
        return Mutant(move, verdict, without)
    verdict = "needed" if without.devices != whole.devices else "redundant"
    return Mutant(move, verdict, without, is_same(without, whole))


def is_same(one: Run, other: Run) -> bool:
    """Whether two runs came to the same parameters, or printed the same if they trained none."""
    if one.steps != other.steps or one.digest != other.digest:
        return False
    return bool(one.digest) or one.output == other.output

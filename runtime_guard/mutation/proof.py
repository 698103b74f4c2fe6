"""Proves a change of a script, and of what it imports: runs it, and compares what it comes to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TypeAlias

from runtime_guard.mutation.agreement import Agreement, compared, not_compared
from runtime_guard.mutation.machines import MACHINES, Proof
from runtime_guard.mutation.marking import MarkedPlace, changed, marked
from runtime_guard.mutation.running import Job, Replacement, Run, ScriptMachine, each, run
from runtime_guard.mutation.source import ScriptSource


@dataclass(frozen=True, slots=True)
class Change:
    """A file of the program beside the script, before and after the change."""

    file: str
    before: ScriptSource
    after: ScriptSource


def prove(
    job: Job,
    sources: Sequence[ScriptSource],
    others: Sequence[Change] = (),
    *,
    jobs: int = 1,
    real: int = 0,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> Proof:
    """Run each text of a script on each machine.

    Args:
        job: the script, and how it is run.
        sources: its text, or two: what it said before a change, and what it says after.
        others: the other files that the change is about.
        jobs: how many runs there are at the same time.
        real: how many GPUs this machine has; where a run needs more, they are virtual.
        progress: called with the number of runs that are done and of those that there will be.
    """
    *former, latest = sources
    changes = changed(former[0].text, latest.text) if former else ()
    elsewhere = [(other, changed(other.before.text, other.after.text)) for other in others]
    texts = [_as_before(each, others) for each in former]
    texts.append(_marked(latest, changes, elsewhere))
    machines = [ScriptMachine(gpus, 0 < gpus <= real) for gpus in MACHINES.values()]
    orders = [(each, machine) for each in texts for machine in machines]
    runs = tuple(_all_run(job, orders, jobs, progress))
    before, after = runs[: -len(machines)], runs[-len(machines) :]
    agreement = None
    if before:
        agreement = _agreement(before, after, lambda text, machine: run(job, texts[text], machine))
    where = tuple((other.file, mark) for other, marks in elsewhere for mark in marks)
    return Proof(job, after, before or None, changes, where, agreement)


Order: TypeAlias = tuple[Sequence[Replacement], ScriptMachine]


def _all_run(
    job: Job, orders: Sequence[Order], jobs: int, progress: Callable[[int, int], None]
) -> list[Run]:
    done = count(1)
    progress(0, len(orders))

    def one(order: Order) -> Run:
        result = run(job, *order)
        progress(next(done), len(orders))
        return result

    return each(one, orders, jobs)


def _as_before(script: ScriptSource, others: Sequence[Change]) -> list[Replacement]:
    """The texts before a change."""
    return [
        Replacement(script.data),
        *(Replacement(other.before.data, file=other.file) for other in others),
    ]


def _marked(
    script: ScriptSource,
    changes: Sequence[MarkedPlace],
    elsewhere: Sequence[tuple[Change, Sequence[MarkedPlace]]],
) -> list[Replacement]:
    """The texts after a change, in which one number after the other stands for what is new."""
    first = len(changes)
    texts = [Replacement(script.encoded(marked(script.text, changes)), script.data)]
    for other, marks in elsewhere:
        data = other.after.encoded(marked(other.after.text, marks, first))
        texts.append(Replacement(data, other.after.data, other.file))
        first += len(marks)
    return texts


BEFORE, AFTER = 0, 1
Again: TypeAlias = Callable[[int, ScriptMachine], Run]
"""Runs one of the two texts once more."""


def _agreement(before: Sequence[Run], after: Sequence[Run], again: Again) -> Agreement:
    """Compare the losses on the CPU; where the script needed a GPU, those on a virtual one."""
    one, other = before[0], after[0]
    if one.failure is not None and one.failure.about_devices:
        one, other = _on_virtual_gpu(before, after, again)
    for compares, when in ((one, "before"), (other, "after")):
        if compares.ending != "passed":
            late = compares.ending == "timed out"
            said = "does not end in time" if late else "fails"
            return not_compared(f"the script {said} {when} the change")
    found = compared(one, other)
    if found.verdict != "changed":
        return found
    if compared(one, again(BEFORE, ScriptMachine(one.gpus))).verdict == "changed":
        return not_compared("the losses of the unchanged script differ from run to run")
    return found


def _on_virtual_gpu(before: Sequence[Run], after: Sequence[Run], again: Again) -> tuple[Run, Run]:
    """The runs on the first machine with virtual GPUs; made where all of them were real."""
    for one, other in zip(before, after, strict=True):
        if one.gpus and not one.real:
            return one, other
    return again(BEFORE, ScriptMachine(1)), again(AFTER, ScriptMachine(1))

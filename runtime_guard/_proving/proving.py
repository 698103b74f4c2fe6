"""Proves a change of a script, and of what it imports: runs it, and compares what it comes to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from runtime_guard._proving.agreement import Agreement, compared, not_compared
from runtime_guard._proving.machines import MACHINES, Proof
from runtime_guard._proving.marking import Mark, changed, marked
from runtime_guard._proving.running import Job, Machine, Run, Text, each, run
from runtime_guard._proving.source import Source


@dataclass(frozen=True, slots=True)
class Change:
    """A file of the program beside the script, before and after the change."""

    file: str
    before: Source
    after: Source


def prove(
    job: Job,
    sources: Sequence[Source],
    others: Sequence[Change] = (),
    *,
    jobs: int = 1,
    real: int = 0,
) -> Proof:
    """Run each text of a script on each machine.

    Args:
        job: the script, and how it is run.
        sources: its text, or two: what it said before a change, and what it says after.
        others: the other files that the change is about.
        jobs: how many runs there are at the same time.
        real: how many GPUs this machine has; where a run needs more, they are virtual.
    """
    *former, latest = sources
    changes = changed(former[0].text, latest.text) if former else ()
    elsewhere = [(other, changed(other.before.text, other.after.text)) for other in others]
    old = [Text(other.before.data, file=other.file) for other in others]
    texts = [[Text(each.data), *old] for each in former]
    texts.append(_marked(latest, changes, elsewhere))
    machines = [Machine(gpus, 0 < gpus <= real) for gpus in MACHINES.values()]
    orders = [(each, machine) for each in texts for machine in machines]
    runs = tuple(each(lambda order: run(job, *order), orders, jobs))
    before, after = runs[: -len(machines)], runs[-len(machines) :]
    agreement = None
    if before:
        agreement = _agreement(before, after, lambda machine: run(job, texts[0], machine))
    where = tuple((other.file, mark) for other, marks in elsewhere for mark in marks)
    return Proof(job, after, before or None, changes, where, agreement)


def _marked(
    script: Source, changes: Sequence[Mark], elsewhere: Sequence[tuple[Change, Sequence[Mark]]]
) -> list[Text]:
    """The texts after a change, in which one number after the other stands for what is new."""
    first = len(changes)
    texts = [Text(script.encoded(marked(script.text, changes)), script.data)]
    for other, marks in elsewhere:
        data = other.after.encoded(marked(other.after.text, marks, first))
        texts.append(Text(data, other.after.data, other.file))
        first += len(marks)
    return texts


def _agreement(
    before: Sequence[Run], after: Sequence[Run], again: Callable[[Machine], Run]
) -> Agreement:
    """Compare the losses on the CPU; where the script needed a GPU, with those on a virtual one."""
    one, other = before[0], after[0]
    if one.failure is not None and one.failure.about_devices:
        virtual = (each for each in before[1:] if not each.real)
        one = next(virtual, None) or again(Machine(1))
        if other.ending != "passed":
            same = (each for each in after[1:] if each.gpus == one.gpus and not each.real)
            other = next(same, other)
    for compares, when in ((one, "before"), (other, "after")):
        if compares.ending != "passed":
            late = compares.ending == "timed out"
            said = "does not end in time" if late else "fails"
            return not_compared(f"the script {said} {when} the change")
    found = compared(one, other)
    if found.verdict == "changed" and compared(one, again(Machine(one.gpus))).verdict == "changed":
        return not_compared("the script itself comes to others in each run")
    return found

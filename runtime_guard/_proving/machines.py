"""Runs a script on machines without a GPU, with one, and with two, before and after a change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runtime_guard._proving.marking import Mark, changed, marked
from runtime_guard._proving.running import Job, Run, each, run
from runtime_guard._proving.source import Source

MACHINES = {"CPU only": 0, "1 GPU": 1, "2 GPUs": 2}
"""How many virtual GPUs each machine has."""


@dataclass(frozen=True, slots=True)
class Proof:
    """What a script did on each machine.

    Attributes:
        job: what was run.
        after: its runs, in the order of `MACHINES`.
        before: those of what it said before a change; None where only one text was run.
        changes: the statements that are new, or changed.
    """

    job: Job
    after: tuple[Run, ...]
    before: tuple[Run, ...] | None = None
    changes: tuple[Mark, ...] = ()

    def unreached(self) -> list[int]:
        """The lines of the statements that are new and that no run came to."""
        reached = {index for run in self.after for index in run.reached}
        lines = [mark.line for index, mark in enumerate(self.changes) if index not in reached]
        return list(dict.fromkeys(lines))

    def problems(self) -> list[str]:
        """What went wrong that must not, for people; empty where the script is proven."""
        before: Sequence[Run | None] = self.before or [None] * len(MACHINES)
        said = [problem(*pair) for pair in zip(before, self.after, strict=True)]
        return [f"{machine}: {why}" for machine, why in zip(MACHINES, said, strict=True) if why]


def prove(job: Job, sources: Sequence[Source], *, jobs: int = 1) -> Proof:
    """Run each text of a script on each machine.

    Args:
        job: the script, and how it is run.
        sources: its text, or two: what it said before a change, and what it says after.
        jobs: how many runs there are at the same time.
    """
    *former, latest = sources
    changes = changed(former[0].text, latest.text) if former else ()
    text = latest.encoded(marked(latest.text, changes))
    texts = [*((each.data, each.data) for each in former), (text, latest.data)]
    orders = [(*pair, devices) for pair in texts for devices in MACHINES.values()]

    def carry_out(order: tuple[bytes, bytes, int]) -> Run:
        text, shown, devices = order
        return run(job, text, devices, shown)

    runs = tuple(each(carry_out, orders, jobs))
    before, after = runs[: -len(MACHINES)], runs[-len(MACHINES) :]
    return Proof(job, after, before or None, changes)


def problem(before: Run | None, after: Run) -> str:
    """Why a run must not come out as it did; empty where it may.

    A script may need a GPU, and then fails without one as it did before. It may train on the CPU,
    but not because of a change.
    """
    if after.ending == "timed out":
        return "the script does not end in time"
    if after.failure is not None:
        return "" if _needs_a_gpu(before, after) else "the script fails"
    if before is not None and is_on_accelerator(before) and not is_on_accelerator(after):
        return "the script trained on the GPU, and no longer does"
    return ""


def is_on_accelerator(run: Run) -> bool:
    """Whether any parameter was on an accelerator when it was trained."""
    return any(device != "cpu" for device in run.devices)


def _needs_a_gpu(before: Run | None, after: Run) -> bool:
    runs = [each for each in (before, after) if each is not None]
    return len(runs) == 2 and all(
        each.gpus == 0 and each.failure is not None and each.failure.about_devices for each in runs
    )

"""Runs a script on machines without a GPU, with one, and with two, before and after a change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runtime_guard.mutation.agreement import Agreement
from runtime_guard.mutation.lacking import lacks
from runtime_guard.mutation.marking import MarkedPlace
from runtime_guard.mutation.running import Job, Run

MACHINES = {"CPU only": 0, "1 GPU": 1, "2 GPUs": 2}
"""How many GPUs each machine has."""


@dataclass(frozen=True, slots=True)
class Proof:
    """What a script did on each machine.

    Attributes:
        job: what was run.
        after: its runs, in the order of `MACHINES`.
        before: those of what it said before a change; None where only one text was run.
        changes: the statements of the script that are new, or changed.
        elsewhere: those of other files, each with its file.
        agreement: what is to be said of the losses; None where only one text was run.
    """

    job: Job
    after: tuple[Run, ...]
    before: tuple[Run, ...] | None = None
    changes: tuple[MarkedPlace, ...] = ()
    elsewhere: tuple[tuple[str, MarkedPlace], ...] = ()
    agreement: Agreement | None = None

    def machines(self) -> list[str]:
        """What each machine is called; virtual is what is not said to be real."""
        names = zip(MACHINES, self.after, strict=True)
        return [f"{name} (real)" if run.real else name for name, run in names]

    def unreached(self) -> list[int]:
        """The lines of the script's statements that are new and that no run came to."""
        lines = [
            mark.line for index, mark in enumerate(self.changes) if index not in self._reached()
        ]
        return list(dict.fromkeys(lines))

    def unreached_elsewhere(self) -> list[str]:
        """Those of other files, as `models.py:7`."""
        places = [
            f"{file}:{mark.line}"
            for index, (file, mark) in enumerate(self.elsewhere, start=len(self.changes))
            if index not in self._reached()
        ]
        return list(dict.fromkeys(places))

    def _reached(self) -> set[int]:
        return {index for run in self.after for index in run.reached}

    def problems(self) -> list[str]:
        """What went wrong that must not, for people; empty where the script is proven."""
        before: Sequence[Run | None] = self.before or [None] * len(MACHINES)
        said = [problem(*pair) for pair in zip(before, self.after, strict=True)]
        if len(set(said)) == 1 and said[0] and said[0] == _lack(self.after[0]):
            # It has nothing to do with machines.
            return said[:1]
        found = [
            f"{machine}: {why}" for machine, why in zip(self.machines(), said, strict=True) if why
        ]
        if self.agreement is not None and self.agreement.verdict == "changed":
            found.append(self.agreement.text)
        return found


def problem(before: Run | None, after: Run) -> str:
    """Why a run must not come out as it did; empty where it may.

    A script may need a GPU, and then fails without one as it did before. It may train on the CPU,
    but not because of a change.
    """
    if after.ending == "timed out":
        return "the script does not end in time"
    if after.failure is not None:
        if _needs_a_gpu(before, after):
            return ""
        known = before is None or (before.failure and before.failure.type == after.failure.type)
        return (_lack(after) if known else "") or "the script fails"
    if before is not None and is_on_accelerator(before) and not is_on_accelerator(after):
        return "the script trained on the GPU, and no longer does"
    return ""


def is_on_accelerator(run: Run) -> bool:
    """Whether any parameter was on an accelerator when it was trained."""
    return any(device != "cpu" for device in run.devices)


def _lack(run: Run) -> str:
    return "" if run.failure is None else lacks(run.failure)


def _needs_a_gpu(before: Run | None, after: Run) -> bool:
    runs = [each for each in (before, after) if each is not None]
    return len(runs) == 2 and all(
        each.gpus == 0 and each.failure is not None and each.failure.about_devices for each in runs
    )

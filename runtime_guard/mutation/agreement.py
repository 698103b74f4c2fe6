"""Whether a script comes to the same losses before and after a change, to the last bit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal, TypeAlias

from runtime_guard.mutation.plan import Loss
from runtime_guard.mutation.running import Run
from runtime_guard.profiler.report.words import counted

Verdict: TypeAlias = Literal["unchanged", "changed", "unknown"]


@dataclass(frozen=True, slots=True)
class Agreement:
    """What comparing two runs says.

    Attributes:
        verdict: whether the losses are the same; `unknown` where there are none to compare.
        text: that, for people.
    """

    verdict: Verdict
    text: str


def compared(before: Run, after: Run) -> Agreement:
    """Compare two runs that came to their end, one before and one after a change."""
    steps, where = counted(before.steps, "step"), _where(before)
    if not (before.steps or after.steps):
        return Agreement("unknown", f"no losses to compare{where}: no optimizer made a step")
    difference = _difference(before, after)
    if difference:
        return Agreement("changed", f"{difference}{where}")
    if before.steps != after.steps:
        return Agreement("changed", f"{steps} before, {after.steps} after{where}")
    if not _losses(before) and not before.digest:
        return Agreement("unknown", f"no losses to compare{where}: their bytes cannot be had")
    if before.digest != after.digest:
        return Agreement("changed", f"losses unchanged, other parameters after {steps}{where}")
    what = "losses" if _losses(before) else "parameters"
    return Agreement("unchanged", f"{what} unchanged ({steps}{where})")


def not_compared(why: str) -> Agreement:
    """What there is to say where no two runs can be compared."""
    return Agreement("unknown", f"losses not compared: {why}")


def _difference(before: Run, after: Run) -> str:
    """Where the first loss differs, with both values; empty where none does."""
    for one, other in zip_longest(_losses(before), _losses(after)):
        if one == other:
            continue
        if other is None:
            return f"the loss of step {one.step} is missing: {one.shown} before"
        if one is None:
            return f"a loss of step {other.step} is new: {other.shown} after"
        step = min(one.step, other.step)
        return f"the loss of step {step} differs: {one.shown} before, {other.shown} after"
    return ""


def _losses(run: Run) -> Sequence[Loss]:
    """The losses of all processes, one process after the other."""
    return [loss for losses in run.losses for loss in losses]


def _where(before: Run) -> str:
    return f", on {counted(before.gpus, 'virtual GPU')}" if before.gpus else ""

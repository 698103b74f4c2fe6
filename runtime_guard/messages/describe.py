"""Makes the public value, free of torch, from a fault that was found in a running program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime_guard.distributed import rank_and_host
from runtime_guard.messages.advice import advise
from runtime_guard.messages.frames import Step, Whereabouts, whereabouts
from runtime_guard.mismatch import Mismatch
from runtime_guard.placement.memory import facts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import nn

    from runtime_guard.check.verdict import Fault


def describe(
    fault: Fault, module: nn.Module, steps: Sequence[Step], root: nn.Module | None = None
) -> Mismatch:
    """Say where in the program a fault happened, and what to write there.

    Args:
        fault: the tensor, and the device that it should have been on.
        module: the module that was given it.
        steps: the stack or the traceback that leads there, outermost first.
        root: the guarded model; without it, the outermost module that was called.
    """
    where = whereabouts(list(steps), root, module)
    return mismatch_at(where, where.path, type(module).__name__, fault, advise(fault, where))


def mismatch_at(where: Whereabouts, path: str, name: str, fault: Fault, advice: str) -> Mismatch:
    """What a fault is called there; `path` and `name` are the module's, or what stands for it."""
    return Mismatch(
        module=path,
        module_class=name,
        argument=fault.argument,
        tensor=facts_of(fault.tensor),
        expected=str(fault.expected),
        anchor=fault.anchor,
        failed_at=where.failed_at,
        entered_at=where.entered_at,
        launched_at=where.launched_at,
        advice=advice,
        rank=rank_and_host(),
    )

"""What is known of a condition, and what follows from taking a branch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from devicelint.domain.values import (
    Const,
    DeviceHandle,
    External,
    Flag,
    Function,
    Module,
    Outside,
    Tuple,
    Value,
)
from devicelint.interpreter.run import Run

AVAILABLE = "torch.cuda.is_available()"
"""The flag that every way of asking for an accelerator comes to."""


def condition_of(value: Value) -> Value:
    """A value as a condition: what comes from outside is a flag that stays the same."""
    return Flag(value.origin) if isinstance(value, Outside) else value


def truth_of(run: Run, value: Value) -> bool | None:
    """Whether a condition holds, or None where nothing is known."""
    match value:
        case Const():
            return bool(value.value)
        case Flag(AVAILABLE, negated):
            return (run.world.accelerators > 0) is not negated
        case Flag():
            return run.decide(value)
        case Outside():
            return run.decide(Flag(value.origin))
        case Tuple():
            return bool(value.items)
        case Module() | DeviceHandle() | Function() | External():
            return None if isinstance(value, External) else True
        case _:
            return None


@contextmanager
def assuming(run: Run, condition: Value) -> Iterator[None]:
    """Walk under a condition: what is written there is somebody's choice, not hard-coded."""
    counted = depends_on_choice(run, condition)
    run.assumptions += counted
    try:
        yield
    finally:
        run.assumptions -= counted


def depends_on_choice(run: Run, condition: Value) -> bool:
    """Whether a condition guards what it surrounds.

    The machine itself is such a condition where an accelerator is there; where none is, a branch
    that is taken is taken for sure.
    """
    if is_machine(condition):
        return run.world.accelerators > 0
    return isinstance(condition, (Flag, Outside))


def is_machine(condition: Value) -> bool:
    """Whether a condition asks for an accelerator, or for none."""
    return isinstance(condition, Flag) and condition.key == AVAILABLE

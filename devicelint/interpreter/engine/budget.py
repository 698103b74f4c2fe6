"""How much of a file is walked before it is given up, and by what that is counted."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from time import process_time

_STEPS_BETWEEN_LOOKS = 1_000
"""How many statements are walked between two looks at the clock."""


class BudgetExceeded(Exception):
    """A file takes more than any file deserves; says which bound it has met."""


class StepsExceeded(BudgetExceeded):
    """A walk has taken more steps than a program of this size deserves."""


class OutOfTime(BudgetExceeded):
    """All walks of a file together have taken too long."""


class Interrupted(BaseException):
    """Nobody waits for what a walk would show; as with Ctrl+C, nothing may take it for an error."""


_is_unwanted: ContextVar[Callable[[], bool] | None] = ContextVar("is_unwanted", default=None)


@contextmanager
def interrupted_when(is_unwanted: Callable[[], bool]) -> Iterator[None]:
    """Let walks raise `Interrupted` soon after nobody wants them any more."""
    before = _is_unwanted.set(is_unwanted)
    try:
        yield
    finally:
        _is_unwanted.reset(before)


@dataclass(frozen=True)
class Limits:
    """What one file may cost."""

    steps: int = 20_000
    """Statements in each walk of a file, whatever its size,"""
    steps_per_line: int = 60
    """and so many more for each of its lines."""
    seconds: float = 60.0
    """Of the processor, in all walks of a file and of those that it imports."""


LIMITS = Limits()
"""Those that hold."""


@dataclass(frozen=True)
class Budget:
    """What is left for a walk: statements, and the moment when there is no more time."""

    steps: int
    until: float = math.inf

    @classmethod
    def for_file(cls, lines: int) -> Budget:
        """For a file of so many lines that is checked from now on."""
        steps = LIMITS.steps + LIMITS.steps_per_line * lines
        return cls(steps, process_time() + LIMITS.seconds)

    def look(self, steps: int) -> int:
        """Let the walk go on after so many steps, and say after how many to ask again.

        Raises `BudgetExceeded` where there is nothing left, and `Interrupted` where nobody waits.
        """
        is_unwanted = _is_unwanted.get()
        if is_unwanted is not None and is_unwanted():
            raise Interrupted
        if steps > self.steps:
            raise StepsExceeded(f"it takes more than {self.steps} steps")
        if process_time() > self.until:
            raise OutOfTime(f"it takes more than {LIMITS.seconds:g} seconds")
        return min(steps + _STEPS_BETWEEN_LOOKS, self.steps + 1)

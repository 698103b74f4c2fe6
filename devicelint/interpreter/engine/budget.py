"""How much of a file is walked before it is given up, and by what that is counted."""

from __future__ import annotations

import math
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

        Raises `BudgetExceeded` where there is nothing left.
        """
        if steps > self.steps:
            raise StepsExceeded(f"it takes more than {self.steps} steps")
        if process_time() > self.until:
            raise OutOfTime(f"it takes more than {LIMITS.seconds:g} seconds")
        return min(steps + _STEPS_BETWEEN_LOOKS, self.steps + 1)

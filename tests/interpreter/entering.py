"""How often functions are entered in the walks through a program."""

from __future__ import annotations

from collections import Counter

from devicelint.domain.worlds import World
from devicelint.interpreter import Program
from devicelint.interpreter.engine.budget import Budget
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.run import Listener, Run
from devicelint.interpreter.engine.steps import Hearer
from devicelint.interpreter.worlds import Walker


class Entered(Hearer):
    """Counts how often each function is entered, in all walks."""

    def __init__(self, counts: Counter[str]) -> None:
        self._counts = counts

    def fork(self) -> Entered:
        return self

    def on_entered(self, frame: Frame) -> None:
        self._counts[frame.name] += 1


def counting(counts: Counter[str], accelerators: int) -> Walker:
    """A walker that counts on machines with so many accelerators."""

    def walker(
        program: Program, world: World, listener: Listener, *, budget: Budget, splits: bool
    ) -> Run:
        run = Run(program, world, listener, budget=budget, splits=splits)
        if world.accelerators == accelerators:
            run.attend([Entered(counts)])
        return run

    return walker

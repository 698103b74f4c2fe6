"""What guards have in common: a check that is put in place and taken away, step by step."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from runtime_guard.hooks.enforcement import Enforcement, Moved
from runtime_guard.hooks.steps import StepCounter
from runtime_guard.messages.excepthooks import Explanations
from runtime_guard.messages.handle import Handle

if TYPE_CHECKING:
    from torch import nn
    from torch.optim import Optimizer
    from typing_extensions import Self

    from runtime_guard.mismatch import Mismatch
    from runtime_guard.settings import Settings


class Checking(Handle):
    """A handle whose check runs on the steps that its settings choose.

    Attributes:
        settings: how it checks.
        attached: whether it is in effect; true also between two checked steps, and after the
            last one, when errors are still explained.
    """

    def __init__(self, settings: Settings, root: nn.Module | None = None) -> None:
        self.settings = settings
        self.attached = False
        self._enforcement = Enforcement(settings, root)
        self._explanations = Explanations()
        self._counter = StepCounter(self)
        self._lock = threading.RLock()
        self._checking = False

    @property
    def enforcement(self) -> Enforcement:
        """What judges the calls that do not fit at first sight."""
        return self._enforcement

    @property
    def checking(self) -> bool:
        """Whether the calls of this moment are checked."""
        return self._checking

    @property
    def mismatches(self) -> list[Mismatch]:
        """What was found, each place once."""
        return self._enforcement.mismatches

    @property
    def moved(self) -> list[Moved]:
        """What the action `move` has moved, place by place."""
        return self._enforcement.moved

    @property
    def steps_done(self) -> int:
        """The training steps so far, as the optimizers and `step` count them.

        With the setting `steps` no more are counted than are checked.
        """
        return self._counter.count

    def step(self) -> None:
        """Count a training step, in a loop that steps no optimizer of torch."""
        self._counter.advance()

    def attach(self) -> Self:
        """Put the check in place; the steps that were counted before still count."""
        with self._lock:
            if not self.attached:
                self.attached = True
                self._explanations.attach()
                self._counter.attach()
                self.reached(self._counter.count)
        return self

    def remove(self) -> None:
        """Take the check away, and everything else that was changed."""
        with self._lock:
            if self.attached:
                self.attached = False
                self._counter.remove()
                self._explanations.remove()
                self._switch(on=False)

    def reached(self, step: int) -> None:
        """The calls from now on belong to the step of this number, counted from 0."""
        limit = self.settings.steps
        over = limit is not None and step >= limit
        if over:
            self._counter.end()
        with self._lock:
            if self.attached:
                self._switch(on=not over and step % self.settings.every == 0)

    def concerns(self, optimizer: Optimizer) -> bool:
        """Whether this optimizer's steps are those of what is checked."""
        raise NotImplementedError

    def _switch(self, *, on: bool) -> None:
        if on != self._checking:
            self._checking = on
            if on:
                self._begin()
            else:
                self._end()

    def _begin(self) -> None:
        raise NotImplementedError

    def _end(self) -> None:
        raise NotImplementedError

"""The training steps of a process: how many, where the parameters were, what became of them."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

from runtime_guard.mutation.losses import NO_BYTES, Losses, digest_of
from runtime_guard.mutation.plan import Left
from runtime_guard.patch import Link

if TYPE_CHECKING:
    from torch import Tensor
    from torch.optim import Optimizer

SEED = 0


class EnoughSteps(SystemExit):
    """All steps were made that were asked for; the program ends as `sys.exit(0)` ends it."""


class Steps:
    """Counts the steps of the optimizers of this process, and of those that are forked off it.

    The run's step is that of the optimizer which has made most: two optimizers that take turns
    make one step together. The program is ended where it begins one step too many, so that what
    it does after a step is done for the last one as well. A program without an optimizer steps by
    hand, once for each backward pass.

    Args:
        limit: how many steps are made; all, if None.
        begin: called at the first step in each process.
        report: called with what there is after each step, where there is a limit.
    """

    def __init__(
        self, limit: int | None, begin: Callable[[], None], report: Callable[[Left], None]
    ) -> None:
        self._limit = limit
        self._begin = begin
        self._report = report
        # Kept until the end, when their parameters are compared with those of another run.
        self._counts: dict[int, tuple[Optimizer, int]] = {}
        self._devices: dict[str, None] = {}
        self._enough = False
        self._process = 0
        self._by_hand: int | None = 0
        self._losses = Losses(self._begin_backward)
        Link(torch.optim.Optimizer, "__init__", self._make)
        register_optimizer_step_pre_hook(self._before)
        register_optimizer_step_post_hook(self._after)

    def left(self) -> Left:
        """What there is to report of this process."""
        self._forget_those_of_the_parent()
        if self._by_hand:
            self._losses.end_step(self._by_hand)
        return replace(self._so_far(), digest=self._digest())

    def _so_far(self) -> Left:
        by_hand = self._by_hand or 0
        return Left(
            steps=by_hand or max((count for _, count in self._counts.values()), default=0),
            devices=list(self._devices),
            enough=self._enough,
            losses=self._losses.kept,
            by_hand=bool(by_hand),
        )

    def _make(self, make: Callable[..., None], *args: Any, **kwargs: Any) -> None:
        self._by_hand = None
        make(*args, **kwargs)

    def _begin_backward(self, tensors: Sequence[Tensor]) -> None:
        if self._by_hand is None:
            return
        self._forget_those_of_the_parent()
        if self._by_hand:
            self._losses.end_step(self._by_hand)
        self._end_after(self._by_hand)
        self._by_hand += 1
        self._devices.update(dict.fromkeys(str(each.device) for each in tensors))

    def _before(self, optimizer: Optimizer, _args: object, _kwargs: object) -> None:
        self._forget_those_of_the_parent()
        _, count = self._counts.setdefault(id(optimizer), (optimizer, 0))
        self._end_after(count)

    def _end_after(self, steps: int) -> None:
        if self._limit is not None and steps >= self._limit:
            self._enough = True
            raise EnoughSteps(0)

    def _after(self, optimizer: Optimizer, _args: object, _kwargs: object) -> None:
        _, count = self._counts.get(id(optimizer), (optimizer, 0))
        self._counts[id(optimizer)] = (optimizer, count + 1)
        self._losses.end_step(count + 1, _parameters(optimizer))
        for parameter in _parameters(optimizer):
            self._devices[str(parameter.device)] = None
        if self._limit is not None:
            self._report(self._so_far())

    def _forget_those_of_the_parent(self) -> None:
        if os.getpid() != self._process:
            self._process = os.getpid()
            self._counts, self._devices, self._enough = {}, {}, False
            self._by_hand = None if self._by_hand is None else 0
            self._losses.forget()
            self._begin()

    def _digest(self) -> str:
        try:
            return digest_of(
                each for known, _ in self._counts.values() for each in _parameters(known)
            )
        except NO_BYTES:
            # There is no comparison.
            return ""


def begin_at_the_same_seeds() -> None:
    """Let every run draw the same numbers, so that what they come to can be compared."""
    torch.manual_seed(SEED)
    random.seed(SEED)
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(SEED)
        Link(numpy.random, "default_rng", _seeded)


def _seeded(default_rng: Callable[..., Any], seed: object = None) -> Any:
    """A generator of numpy that begins anywhere where it is given nothing to begin at."""
    return default_rng(SEED if seed is None else seed)


def _parameters(optimizer: Optimizer) -> Iterator[Tensor]:
    for group in optimizer.param_groups:
        yield from group["params"]

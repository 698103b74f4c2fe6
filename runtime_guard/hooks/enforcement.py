"""What happens about a mismatch: an exception, a warning, or the move that was forgotten."""

from __future__ import annotations

import os
import sys
import threading
import warnings
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from torch import Tensor, nn

from runtime_guard.check.verdict import Fault, find_faults
from runtime_guard.check.walk import with_replaced
from runtime_guard.errors import DeviceMismatchError, DeviceMismatchWarning
from runtime_guard.messages.describe import describe
from runtime_guard.messages.frames import steps_of_stack
from runtime_guard.messages.message import render
from runtime_guard.witnesses import witnesses

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from runtime_guard.mismatch import Mismatch
    from runtime_guard.settings import Settings

    Arguments: TypeAlias = tuple[tuple[Any, ...], dict[str, Any]]

# What it decorates runs as written where torch.compile traces the rest; torch.compiler.disable does
# the same, and imports a second of code for it at once.
F = TypeVar("F")
_untraced: Callable[[F], F] = getattr(torch, "_disable_dynamo", torch.compiler.disable)

# So many places are kept; of a run that is wrong in more, enough has been reported.
_MOST_PLACES = 1000


@dataclass(frozen=True, slots=True)
class Moved:
    """What was moved at one place; `bytes` counts the elements of the tensors that were."""

    mismatch: Mismatch
    count: int
    bytes: int


class Enforcement:
    """Judges calls by a guard's settings, acts on what is wrong, and remembers each place once."""

    def __init__(self, settings: Settings, root: nn.Module | None = None) -> None:
        self.settings = settings
        self._root = root
        self._lock = threading.Lock()
        self._places: dict[tuple[object, ...], Mismatch] = {}
        self._moves: dict[tuple[object, ...], Moved] = {}
        self._known: dict[tuple[object, ...], list[Mismatch]] = {}
        _all.add(self)

    @property
    def mismatches(self) -> list[Mismatch]:
        """What was found, each place once, in the order of finding."""
        return list(self._places.values())

    @property
    def moved(self) -> list[Moved]:
        """What the action `move` moved, place by place."""
        return list(self._moves.values())

    def examine(
        self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Arguments | None:
        """Act on a call whose arguments do not fit at first sight; None leaves them as they are.

        Raises:
            DeviceMismatchError: a tensor is on the wrong device, and the action is to raise.
        """
        faults = find_faults(module, args, kwargs, meta=self.settings.meta)
        if not faults:
            return None
        if torch.compiler.is_compiling() and torch.__version__ >= "2.7":
            # Where a graph must be whole, this is what its compilation fails with; torch 2.6
            # breaks a graph for no reason given.
            torch._dynamo.graph_break(msg=_summary(module, faults[0]))
        return self._act(module, faults, args, kwargs)

    @_untraced
    def _act(
        self,
        module: nn.Module,
        faults: Sequence[Fault],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Arguments | None:
        found = self._described(module, faults)
        if not self.settings.chooses(found[0].module):
            return None
        fresh = [mismatch for mismatch in found if self._remember(mismatch)]
        for witness in tuple(witnesses):
            for mismatch in found:
                witness(mismatch)
        if self.settings.action == "raise":
            raise DeviceMismatchError(render(found), found)
        if fresh:
            _warn(fresh)
        if self.settings.action == "move":
            arguments = _moved(faults, args, kwargs)
            self._count(found, faults)
            return arguments
        return None

    def _described(self, module: nn.Module, faults: Sequence[Fault]) -> list[Mismatch]:
        """What is wrong with this call; worked out once for each way that leads to it."""
        steps = steps_of_stack(sys._getframe(2))
        way = tuple((step.frame.f_code, step.line) for step in steps)
        occasion = id(module), tuple(fault.argument for fault in faults), way
        found = self._known.get(occasion)
        if found is None:
            found = [describe(fault, module, steps, self._root) for fault in faults]
            if len(self._known) < _MOST_PLACES:
                self._known[occasion] = found
        return found

    def _remember(self, mismatch: Mismatch) -> bool:
        place = _place(mismatch)
        with self._lock:
            if place in self._places or len(self._places) >= _MOST_PLACES:
                return False
            self._places[place] = mismatch
        return True

    def _count(self, found: Sequence[Mismatch], faults: Sequence[Fault]) -> None:
        with self._lock:
            for mismatch, fault in zip(found, faults, strict=True):
                place = _place(mismatch)
                if place not in self._places:
                    continue
                before = self._moves.get(place, Moved(mismatch, 0, 0))
                size = before.bytes + fault.tensor.nbytes
                self._moves[place] = Moved(before.mismatch, before.count + 1, size)


def _place(mismatch: Mismatch) -> tuple[object, ...]:
    return mismatch.module, mismatch.module_class, mismatch.argument, mismatch.failed_at


def _warn(mismatches: Sequence[Mismatch]) -> None:
    line = mismatches[0].entered_at or mismatches[0].failed_at
    file, number = (line.file, line.line) if line else ("<unknown>", 0)
    warnings.warn_explicit(render(mismatches), DeviceMismatchWarning, file, number)


def _moved(faults: Sequence[Fault], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
    goals = {id(fault.tensor): fault.expected for fault in faults}

    def move(tensor: Tensor) -> Tensor:
        goal = goals.get(id(tensor))
        return tensor if goal is None else tensor.to(goal)

    positional = tuple(with_replaced(value, move) for value in args)
    return positional, {name: with_replaced(value, move) for name, value in kwargs.items()}


def _summary(module: nn.Module, fault: Fault) -> str:
    return (
        f"{type(module).__name__} got {fault.argument} on {fault.tensor.device}, "
        f"but its {fault.anchor} is on {fault.expected}"
    )


_all: weakref.WeakSet[Enforcement] = weakref.WeakSet()


def _after_fork() -> None:
    """A child counts what it moves itself; what was moved before is its parent's to report."""
    for enforcement in tuple(_all):
        enforcement._moves.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

"""A whole program: the worlds in which it is walked, and the functions that nobody calls.

This stands above the layers: what a walk consists of is decided here, and the last part of it, to
walk what nobody calls, is Python's.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from devicelint.domain.history import Site
from devicelint.domain.worlds import WITH_ONE, WITH_SEVERAL, WITHOUT, World
from devicelint.interpreter.engine.attempts import MOST_SETTINGS, Parts
from devicelint.interpreter.engine.budget import Budget
from devicelint.interpreter.engine.hooks import attend
from devicelint.interpreter.engine.program import Program
from devicelint.interpreter.engine.run import Listener, Run
from devicelint.interpreter.engine.split import Split
from devicelint.interpreter.facts.failures import clear_failures
from devicelint.interpreter.python.alone.classes import (
    has_unentered,
    is_never_called,
    walk_class_alone,
)
from devicelint.interpreter.python.alone.demonstrations import (
    is_demonstration,
    is_without_parameters,
)
from devicelint.interpreter.python.alone.settings import (
    default_of_others,
    open_what_functions_set,
)
from devicelint.interpreter.python.functions import walk_alone


@dataclass(slots=True)
class Walk:
    """What a walk in one world has shown, besides its events."""

    world: World
    entered: set[Site]
    made: set[Site]
    """The classes of which there was an object."""
    differs_without_accelerator: bool
    counts_accelerators: bool


class Walker(Protocol):
    """What makes the run of a walk: `Run`, or a kind of it that announces more."""

    def __call__(
        self,
        program: Program,
        world: World,
        listener: Listener,
        *,
        budget: Budget,
        splits: bool,
    ) -> Run:
        """Return a run that has not begun."""


def explore(
    program: Program,
    listener_for: Callable[[World], Listener],
    walker: Walker = Run,
    wanted: Container[str] | None = None,
    *,
    everywhere: bool = False,
) -> tuple[Walk, ...]:
    """Walk through a program on every machine that makes a difference to it, or on every one.

    Where a flag of the program separates two paths that leave a value on two devices, each of its
    values is a world of its own.  The events of a walk that was given up are the listener's to
    forget: `listener_for` is called anew for each walk.  What only serves events that are not
    `wanted` by name is left out; None wants all.  Raises `BudgetExceeded` where it takes too much.
    """
    begin = _Begin(program, listener_for, walker, wanted, Budget.for_file(program.lines))
    walks = list(_walk_settings(begin, WITH_ONE))
    if everywhere or any(walk.counts_accelerators for walk in walks):
        walks.extend(_walk_settings(begin, WITH_SEVERAL))
    if everywhere or any(walk.differs_without_accelerator for walk in walks):
        walks.append(_walk(begin(WITHOUT, splits=False), walks))
    return tuple(walks)


@dataclass(frozen=True)
class _Begin:
    """Begins the walks through one program, which share one budget."""

    program: Program
    listener_for: Callable[[World], Listener]
    walker: Walker
    wanted: Container[str] | None
    budget: Budget

    def __call__(self, world: World, *, splits: bool) -> Run:
        """A run that is about to walk in a world."""
        listener = self.listener_for(world)
        run = self.walker(self.program, world, listener, budget=self.budget, splits=splits)
        attend(run, self.wanted)
        run.guesses.begin(run)
        return run


def _walk_settings(begin: _Begin, world: World) -> Iterator[Walk]:
    try:
        yield _walk(begin(world, splits=len(world.settings) < MOST_SETTINGS))
    except Split as split:
        for chosen in (True, False):
            on_cpu = split.on_cpu is chosen
            yield from _walk_settings(begin, world.choosing(split.key, chosen, on_cpu=on_cpu))


def _walk(run: Run, others: Sequence[Walk] = ()) -> Walk:
    """Walk in one world; what the program itself has called in others, nobody calls alone."""
    clear_failures(run)
    _execute(run)
    clear_failures(run)
    run.entered.update(*(walk.entered for walk in others))
    made = _walk_unentered(run, set().union(*(walk.made for walk in others)))
    for one in run.hearers:
        for event in one.at_end():
            run.announce(event)
    differs = run.demands_accelerator or run.depends_on_machine
    return Walk(run.world, run.entered, made, differs, run.counts_accelerators)


def _execute(run: Run) -> None:
    """Execute the file, as a program; what only its demonstration calls, nobody has called.

    Others import what it shows there with values of its own choice, and call it with theirs.
    """
    for statement in run.module.body:
        if run.state.dead:
            return
        if not is_demonstration(run, statement):
            run.execute(statement)
            continue
        before, built = set(run.entered), set(run.instantiated)
        run.execute(statement)
        run.entered = before | {one for one in run.entered if is_without_parameters(one)}
        run.instantiated = built


def _walk_unentered(run: Run, made: Collection[Site]) -> set[Site]:
    """Functions and classes that the file defines and does not use itself.

    The last comes first: `main` stands below what it calls, and calls it with what it gets.
    Walking one may bring more: a closure that it returns.  What one of them calls, others may call
    otherwise; what the program calls, they do not.  Gives the classes that were used.
    """
    tried: set[Site] = set()
    alone: set[Site] = set()
    called, built = set(run.entered), set(run.instantiated)
    open_what_functions_set(run, called)
    run.default_device = run.device_of_type = default_of_others(run)
    parts = Parts(run)
    while waiting := [one for one, _ in run.pending if one.owner is None and one.node not in tried]:
        for function in reversed(waiting):
            tried.add(function.node)
            if function.node not in called:
                parts.walk(partial(walk_alone, run, function))
    for node, cls in reversed(tuple(run.classes.items())):
        if node not in made if node not in built else is_never_called(run, cls):
            alone.add(node)
            parts.walk(partial(walk_class_alone, run, cls))
        elif has_unentered(run, cls):
            with run.forgetting():
                parts.walk(partial(walk_class_alone, run, cls, is_used=True))
    return run.instantiated - alone

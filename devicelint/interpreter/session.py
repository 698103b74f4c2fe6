"""A whole program: the worlds in which it is walked, and the functions that nobody calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from devicelint.domain.history import Site
from devicelint.domain.worlds import WITH_ONE, WITH_SEVERAL, WITHOUT, World
from devicelint.interpreter import (  # noqa: F401  (they register their handlers)
    attributes,
    builtins,
    calls,
    classes,
    collectives,
    comparisons,
    data,
    device_calls,
    expressions,
    externals,
    flow,
    functions,
    imports,
    kinds,
    loops,
    module_methods,
    operators,
    patterns,
    sampling,
    spawning,
    statements,
    subscripts,
    supers,
    tensor_methods,
    torch_modules,
)
from devicelint.interpreter.classes import walk_class_alone
from devicelint.interpreter.functions import walk_alone
from devicelint.interpreter.loads import announce_loads
from devicelint.interpreter.program import Program
from devicelint.interpreter.run import Exhausted, Listener, Run, Split

_MOST_SETTINGS = 2
_STEPS_FOR_ANY = 20_000
_STEPS_PER_LINE = 60


@dataclass(slots=True)
class Walk:
    """What a walk in one world has shown, besides its events."""

    world: World
    entered: set[Site]
    differs_without_accelerator: bool
    counts_accelerators: bool


def explore(program: Program, listener_for: Callable[[World], Listener]) -> tuple[Walk, ...]:
    """Walk through a program on every machine that makes a difference to it.

    Where a flag of the program separates two paths that leave a value on two devices, each of its
    values is a world of its own.  The events of a walk that was given up are the listener's to
    forget: `listener_for` is called anew for each walk.
    """
    steps = _STEPS_FOR_ANY + _STEPS_PER_LINE * program.lines
    walks = list(_walk_settings(program, WITH_ONE, steps, listener_for))
    if any(walk.counts_accelerators for walk in walks):
        walks.extend(_walk_settings(program, WITH_SEVERAL, steps, listener_for))
    if any(walk.differs_without_accelerator for walk in walks):
        entered = set().union(*(walk.entered for walk in walks))
        walks.append(_walk(program, WITHOUT, steps, listener_for, splits=False, entered=entered))
    return tuple(walks)


def _walk_settings(
    program: Program, world: World, steps: int, listener_for: Callable[[World], Listener]
) -> Iterator[Walk]:
    can_split = len(world.settings) < _MOST_SETTINGS
    try:
        yield _walk(program, world, steps, listener_for, splits=can_split)
    except Split as split:
        for chosen in (True, False):
            yield from _walk_settings(
                program, world.choosing(split.key, chosen), steps, listener_for
            )


def _walk(
    program: Program,
    world: World,
    steps: int,
    listener_for: Callable[[World], Listener],
    *,
    splits: bool,
    entered: set[Site] | None = None,
) -> Walk:
    run = Run(program, world, listener_for(world), steps=steps, splits=splits)
    try:
        run.execute_block(program.tree)
        run.state.dead = False
        _walk_unentered(run, entered or set())
    except Exhausted:
        pass
    announce_loads(run)
    differs = run.demands_accelerator or run.skips_a_machine or bool(run.loads)
    return Walk(world, run.entered, differs, run.counts_accelerators)


def _walk_unentered(run: Run, entered: set[Site]) -> None:
    """Functions and classes that the file defines and does not use itself.

    The last comes first: `main` stands below what it calls, and calls it with what it gets.
    Walking one may bring more: a closure that it returns.
    """
    run.entered |= entered
    tried: set[Site] = set()
    while waiting := [one for one, _ in run.pending if one.owner is None and one.node not in tried]:
        for function in reversed(waiting):
            tried.add(function.node)
            if function.node not in run.entered:
                walk_alone(run, function)
    for node, cls in reversed(tuple(run.classes.items())):
        if node not in run.instantiated:
            walk_class_alone(run, cls)

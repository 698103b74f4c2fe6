"""Loops and comprehensions, to a bounded fixed point.

The body is walked once with what holds before the loop: that iteration really happens.  Where it
changed something that was there before, the body is walked with what it left, as the next iteration
would be; where that changes something too, with all that may hold in any iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import libcst as cst

from devicelint.domain.join import join, join_known
from devicelint.domain.state import FILES, State
from devicelint.domain.values import (
    TRUE,
    Const,
    DeviceHandle,
    HostValue,
    Stream,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.frame import Loop
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import executes
from devicelint.interpreter.python.assignment import assign
from devicelint.interpreter.python.conditions import assuming, condition_of, truth_of
from devicelint.interpreter.python.containers.contents import (
    Counted,
    element_of,
    is_filled,
    known_elements,
)
from devicelint.interpreter.python.containers.fields import GROWN, LENGTH
from devicelint.interpreter.python.functions import Bodies
from devicelint.interpreter.python.iteration.strays import led_astray
from devicelint.interpreter.python.iteration.told_apart import (
    chooses_by,
    is_chosen_by,
    is_never_entered,
    iteration,
    joined_constant,
    told_apart,
)
from devicelint.interpreter.python.special_methods import iterated


@executes(cst.For)
def for_statement(run: Run, node: cst.For) -> None:
    over = iterated(run, run.evaluate(node.iter))
    run.frame.statement = node
    elements = known_elements(run, over)
    element = element_of(run, over, node.iter)
    at_least_once = is_filled(run, over)
    if is_never_entered(over, elements):
        _otherwise(run, node)
        return

    def binding(one: Value) -> Callable[[], None]:
        one = run.guesses.element(run, node, one)

        def bind() -> None:
            run.frame.statement = node
            assign(run, node.target, one, node.iter)

        return bind

    if elements is not None and told_apart(run, elements, node.target, node.body):
        _one_by_one(run, node, [binding(one) for one in elements])
        return
    if elements and any(isinstance(one, (Const, DeviceHandle)) for one in elements):
        element = joined_constant(elements)
    first = over.first if isinstance(over, Stream) else None
    if first is not None and chooses_by(node.target, node.body):
        begin: Callable[[], None] | None = binding(first)
    else:
        begin = None
    _loop(run, node, binding(element), begin, at_least_once=at_least_once)


def _one_by_one(run: Run, node: cst.For, bindings: list[Callable[[], None]]) -> None:
    """Walk the body once for each element, as Python does."""
    loop = Loop(node, run.moment, told_apart=True)
    run.frame.loops.append(loop)
    for number, bind in enumerate(bindings):
        if run.state.dead:
            break
        with iteration(run, number, len(bindings)):
            _iterate(run, loop, bind)
    run.frame.loops.pop()
    _leave(run, loop)


@executes(cst.While)
def while_statement(run: Run, node: cst.While) -> None:
    condition = condition_of(run.evaluate(node.test))
    known = truth_of(run, condition)
    if known is False:
        _otherwise(run, node)
        return
    with assuming(run, condition):
        _loop(run, node, lambda: None, at_least_once=known is True, endless=_is_endless(node.test))


def _is_endless(test: cst.BaseExpression) -> bool:
    """`while True`: any other condition may change in the loop."""
    if isinstance(test, cst.Name):
        return test.value == "True"
    return isinstance(test, cst.Integer) and test.evaluated_value != 0


def _loop(
    run: Run,
    node: cst.For | cst.While,
    bind: Callable[[], None],
    begin: Callable[[], None] | None = None,
    *,
    at_least_once: bool,
    endless: bool = False,
) -> None:
    loop = Loop(node, run.moment)
    run.frame.loops.append(loop)
    before = _to_a_fixed_point(run, loop, bind, begin)
    run.frame.loops.pop()
    if endless:
        run.state.dead = True
    elif run.state.dead or not (at_least_once or run.state.failed):
        run.merge(before, None)
    _leave(run, loop)


def _leave(run: Run, loop: Loop) -> None:
    """What follows a loop that has come to its end, or was left by `break`."""
    if not run.state.dead:
        _otherwise(run, loop.node)
    _rejoin(run, loop.breaks)


def _to_a_fixed_point(
    run: Run, loop: Loop, bind: Callable[[], None], begin: Callable[[], None] | None
) -> State:
    """Walk the body until it changes nothing more; gives what may hold before the loop.

    The first iteration has a binding of its own where it begins with something else.
    """
    before, counted = run.state.fork(), run.notes(Counted).times
    walked, late = len(run.notes(Bodies).walked), run.come_late
    _iterate(run, loop, begin or bind)
    if run.come_late > late:
        run.state = _knowing_files(before, run.state)
        _iterate(run, loop, begin or bind)
    if not run.state.dead:
        with led_astray(run, loop, before) as are_any:
            if are_any:
                _iterate(run, loop, bind)
    counts = _count_on(run, loop, before, walked)
    grown = _count_no_longer(run, before) and run.notes(Counted).times > counted
    differs = begin is not None or grown or counts
    if not run.state.dead and (differs or _changed(run.state, before)):
        first = run.state.fork()
        _iterate(run, loop, bind)
        if run.state.dead:
            run.merge(first, None)
        elif _changed(run.state, first):
            before = _merged(run, first, before)
            _iterate(run, loop, bind)
    return before


def _knowing_files(before: State, after: State) -> State:
    """What held before an iteration, but for the files that it looks for and saves later on.

    With them there, an iteration does what most do.
    """
    state = before.fork()
    state.adopt({ref: one for ref, one in after.objects().items() if not before.fields(ref)})
    for name, content in after.fields(FILES).items():
        state.write(FILES, name, content)
    return state


def _count_on(run: Run, loop: Loop, before: State, walked: int) -> bool:
    """What an iteration has counted, others count on; whether it chooses by that anywhere.

    It does so in its own body, or in those of the functions that it calls: all but the first
    `walked` that were walked.
    """
    counted = []
    for ref, name in run.state.changes_since(before):
        one, other = run.state.read(ref, name), before.read(ref, name)
        if isinstance(one, Const) and isinstance(other, Const) and one != other:
            counted.append(name)
            run.state.write(ref, name, join_known(one, other))
    if not counted:
        return False
    bodies = dict.fromkeys((loop.node.body, *run.notes(Bodies).walked[walked:]))
    return any(is_chosen_by(frozenset(counted), one) for one in bodies)


def _count_no_longer(run: Run, before: State) -> bool:
    """How long a list is that an iteration has made longer, nobody knows; whether there is one."""
    grown = [ref for ref, name in run.state.changes_since(before) if name == LENGTH]
    for ref in grown:
        run.state.write(ref, GROWN, TRUE)
    return bool(grown)


def _iterate(run: Run, loop: Loop, bind: Callable[[], None]) -> None:
    loop.continues.clear()
    bind()
    run.execute_block(loop.node.body)
    _rejoin(run, loop.continues)


def _rejoin(run: Run, states: Iterable[State]) -> None:
    for state in states:
        run.merge(state, None)


def _merged(run: Run, *others: State) -> State:
    """What may hold before any iteration: here, or in one of some other states."""
    _rejoin(run, [state.fork() for state in others])
    return run.state.fork()


def _changed(state: State, before: State) -> bool:
    """Whether an iteration changed a value that concerns devices, so that the next one differs."""
    for ref, name in state.changes_since(before):
        one, other = state.read(ref, name), before.read(ref, name)
        is_of_host = isinstance(other, _HOSTS) and isinstance(one, (*_HOSTS, Unknown))
        if not is_of_host and join(one, other) != other:
            return True
    return False


_HOSTS = (Const, HostValue)


def _otherwise(run: Run, node: cst.For | cst.While) -> None:
    if node.orelse is not None:
        run.execute_block(node.orelse.body)

"""Loops and comprehensions, to a bounded fixed point.

The body is walked once with what holds before the loop: that iteration really happens.  Where it
changed something that was there before, the body is walked with what it left, as the next iteration
would be; where that changes something too, with all that may hold in any iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import libcst as cst

from devicelint.domain.devices import Unsure
from devicelint.domain.join import join
from devicelint.domain.state import State
from devicelint.domain.values import (
    Const,
    DeviceHandle,
    HostValue,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.frame import Loop
from devicelint.interpreter.engine.nodes import names_bound_by
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import executes
from devicelint.interpreter.python.assignment import assign
from devicelint.interpreter.python.conditions import assuming, condition_of, truth_of
from devicelint.interpreter.python.containers import element_of, is_filled, known_elements


@executes(cst.For)
def for_statement(run: Run, node: cst.For) -> None:
    iterated = run.evaluate(node.iter)
    run.frame.statement = node
    elements = known_elements(run, iterated)
    element = element_of(run, iterated, node.iter)
    at_least_once = is_filled(run, iterated)
    if elements and any(isinstance(one, (Const, DeviceHandle)) for one in elements):
        element = _joined_constant(elements)
    element = run.guesses.element(run, node, element)

    def bind() -> None:
        run.frame.statement = node
        assign(run, node.target, element, node.iter)

    _loop(run, node, bind, at_least_once=at_least_once)


def _joined_constant(elements: tuple[Value, ...]) -> Value:
    """The items of `for device in ("cpu", "cuda")`: one of several devices."""
    if len(set(elements)) == 1:
        return elements[0]
    if all(isinstance(one, (Const, HostValue)) for one in elements):
        names = all(isinstance(one, Const) and isinstance(one.value, str) for one in elements)
        return DeviceHandle(Unsure("one of several"), is_object=False) if names else HostValue()
    return Unknown("one of several")


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
    *,
    at_least_once: bool,
    endless: bool = False,
) -> None:
    loop = Loop(node)
    run.frame.loops.append(loop)
    before = _to_a_fixed_point(run, loop, bind)
    run.frame.loops.pop()
    if endless:
        run.state.dead = True
    elif not at_least_once or run.state.dead:
        run.merge(before, None)
    if node.orelse is not None and not run.state.dead:
        run.execute_block(node.orelse.body)
    _rejoin(run, loop.breaks)


def _to_a_fixed_point(run: Run, loop: Loop, bind: Callable[[], None]) -> State:
    """Walk the body until it changes nothing more; gives what may hold before the loop."""
    before = run.state.fork()
    _iterate(run, loop, bind)
    if not run.state.dead and _changed(run.state, before):
        first = run.state.fork()
        _iterate(run, loop, bind)
        if run.state.dead:
            run.merge(first, None)
        elif _changed(run.state, first):
            before = _merged(run, first, before)
            _iterate(run, loop, bind)
    return before


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


@contextmanager
def comprehension_scope(run: Run, clause: cst.CompFor | None) -> Iterator[tuple[Value, ...] | None]:
    """Bind the targets of a comprehension's `for` clauses, for as long as it is evaluated.

    What is yielded are the elements one by one, where there is one clause and each of them counts.
    """
    frame = run.frame
    outer, names = frame.ref, dict(run.state.fields(frame.ref))
    bindings = dict(frame.bindings)
    bound: list[str] = []
    elements: tuple[Value, ...] | None = None
    is_simple = clause is not None and clause.inner_for_in is None and not clause.ifs
    while clause is not None:
        elements = _bind_target(run, clause)
        bound.extend(names_bound_by(clause.target))
        frame.bindings.update(dict.fromkeys(bound, clause))
        for test in clause.ifs:
            run.evaluate(test.test)
        clause = clause.inner_for_in
    yield elements if is_simple else None
    frame.bindings = bindings
    for name in bound:
        if name in names:
            run.state.write(outer, name, names[name])
        else:
            run.state.delete(outer, name)


def _bind_target(run: Run, clause: cst.CompFor) -> tuple[Value, ...] | None:
    """Bind the target of one `for` clause; gives the elements one by one, where they are known."""
    iterated = run.evaluate(clause.iter)
    elements = known_elements(run, iterated)
    element = element_of(run, iterated, clause.iter)
    if elements and isinstance(elements[0], (Const, DeviceHandle)):
        element = _joined_constant(elements)
    assign(run, clause.target, element, clause.iter)
    return elements

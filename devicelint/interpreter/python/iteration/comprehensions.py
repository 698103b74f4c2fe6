"""Comprehensions and generator expressions: what they make, an element at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import libcst as cst

from devicelint.domain.values import (
    HOST,
    Const,
    DeviceHandle,
    ListOf,
    Stream,
    Tensor,
    Value,
)
from devicelint.interpreter.engine.nodes import names_bound_by
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import evaluates
from devicelint.interpreter.python.assignment import assign
from devicelint.interpreter.python.conditions import condition_of, truth_of
from devicelint.interpreter.python.containers.contents import (
    element_of,
    extend,
    joined_elements,
    known_elements,
    new_list,
    streamed,
)
from devicelint.interpreter.python.containers.dictionaries import new_dict
from devicelint.interpreter.python.containers.fields import ELEMENT, LENGTH, key_field, mark_shared
from devicelint.interpreter.python.iteration.told_apart import (
    are_few,
    is_never_entered,
    iteration,
    joined_constant,
    told_apart,
)
from devicelint.interpreter.python.special_methods import iterated


@dataclass
class _Made:
    """What the iterations of a comprehension have made."""

    values: list[tuple[Value, ...]] = field(default_factory=list)
    """Elements, or pairs of a key and a value."""
    counted: bool = True
    """Whether each of these stands for one of the program's."""
    times: int | None = None
    """How many there are of the one that stands for all of them, where that is known."""


Comprehension = cst.ListComp | cst.SetComp | cst.GeneratorExp | cst.DictComp


@evaluates(cst.ListComp, cst.SetComp, cst.GeneratorExp)
def comprehension(run: Run, node: cst.ListComp | cst.SetComp | cst.GeneratorExp) -> Value:
    made = _walk(run, node, lambda: (run.evaluate(node.elt),))
    values = tuple(one for (one,) in made.values)
    if isinstance(node, cst.GeneratorExp):
        return streamed(run, values) if made.counted else Stream(joined_elements(run, values))
    if made.counted:
        return new_list(run, node, values)
    if made.times is not None and isinstance(values[0], Tensor):
        return new_list(run, node, values * made.times)
    ref = run.allocate(node)
    for one in values:
        extend(run, ref, one)
    run.state.write(ref, LENGTH, HOST)
    return ListOf(ref, node)


@evaluates(cst.DictComp)
def dict_comprehension(run: Run, node: cst.DictComp) -> Value:
    made = _walk(run, node, lambda: (run.evaluate(node.key), run.evaluate(node.value)))
    fields = [(key_field(key), value) for key, value in made.values]
    if not made.counted and not fields:
        fields = [(ELEMENT, joined_elements(run, ()))]
    return new_dict(run, node, fields)


def _walk(run: Run, node: Comprehension, make: Callable[[], tuple[Value, ...]]) -> _Made:
    """What a comprehension makes, its targets bound in a scope of their own."""
    made = _Made()
    with _scope(run, node.for_in):
        _clause(run, node, node.for_in, make, made)
    return made


@contextmanager
def _scope(run: Run, clause: cst.CompFor | None) -> Iterator[None]:
    """Give the targets of `for` clauses back what they were bound to before."""
    frame = run.frame
    outer, names = frame.ref, dict(run.state.fields(frame.ref))
    bindings = dict(frame.bindings)
    bound: list[str] = []
    while clause is not None:
        bound.extend(names_bound_by(clause.target))
        clause = clause.inner_for_in
    yield
    frame.bindings = bindings
    for name in bound:
        if name in names:
            run.state.write(outer, name, names[name])
        else:
            run.state.delete(outer, name)


def _clause(
    run: Run,
    node: Comprehension,
    clause: cst.CompFor,
    make: Callable[[], tuple[Value, ...]],
    made: _Made,
) -> None:
    """Walk what stands right of a `for` clause, once for each element that is told apart."""
    over = iterated(run, run.evaluate(clause.iter))
    elements = known_elements(run, over)
    if elements is not None and _is_told_apart(run, elements, node, clause):
        for number, one in enumerate(elements):
            with iteration(run, number, len(elements)):
                _element(run, node, clause, one, make, made)
        return
    if is_never_entered(over, elements):
        return
    made.counted = False
    made.times = _times(elements, node, clause)
    element = element_of(run, over, clause.iter)
    if elements and isinstance(elements[0], (Const, DeviceHandle)):
        element = joined_constant(elements)
    _element(run, node, clause, element, make, made)


def _is_told_apart(
    run: Run, elements: tuple[Value, ...], node: Comprehension, clause: cst.CompFor
) -> bool:
    """Whether each element is walked: also numbers, where it counts how many are kept."""
    is_only = clause is node.for_in and clause.inner_for_in is None and not clause.ifs
    if not is_only and are_few(run, elements):
        return True
    return told_apart(run, elements, clause.target, node, alike=True)


_MOST = 16
"""So many elements that are alike are counted."""


def _times(
    elements: tuple[Value, ...] | None, node: Comprehension, clause: cst.CompFor
) -> int | None:
    """How many elements a comprehension makes that walks its only clause once for all of them."""
    is_only = clause is node.for_in and clause.inner_for_in is None and not clause.ifs
    return len(elements) if elements is not None and is_only and len(elements) <= _MOST else None


def _element(
    run: Run,
    node: Comprehension,
    clause: cst.CompFor,
    element: Value,
    make: Callable[[], tuple[Value, ...]],
    made: _Made,
) -> None:
    """What one element comes to: nothing, where a condition of the clause does not hold."""
    assign(run, clause.target, element, clause.iter)
    run.frame.bindings.update(dict.fromkeys(names_bound_by(clause.target), clause))
    for test in clause.ifs:
        holds = truth_of(run, condition_of(run.evaluate(test.test)))
        if holds is False:
            return
        made.counted = made.counted and holds is True
    if clause.inner_for_in is not None:
        _clause(run, node, clause.inner_for_in, make, made)
        return
    values = make()
    if not made.counted:
        mark_shared(run, values[-1])
    made.values.append(values)

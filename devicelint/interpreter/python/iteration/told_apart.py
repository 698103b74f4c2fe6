"""Iterations that are told apart: a loop over a few known elements is walked once for each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import libcst as cst

from devicelint.domain.devices import Unsure
from devicelint.domain.values import (
    Const,
    DeviceHandle,
    HostValue,
    ListOf,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.nodes import cached_of_nodes, descendants, names_bound_by
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.mentions import names_in

_MOST = 8
"""How many iterations of one loop are walked one by one,"""
_MOST_TOGETHER = 24
"""and how many of all loops around."""
_MOST_MADE = 16
"""How many elements a comprehension makes one by one: each is an expression alone,"""
_MOST_MADE_TOGETHER = 64
"""and how many with all loops around."""


def told_apart(
    run: Run,
    elements: tuple[Value, ...] | None,
    target: cst.BaseExpression,
    body: cst.CSTNode,
    *,
    alike: bool = False,
) -> bool:
    """Whether a loop is walked for each of its elements: these are few, and differ.

    Where it counts which is which, they may be `alike`.  Numbers and names make a difference where
    the body chooses by them.
    """
    if not elements or not are_few(run, elements, made=alike):
        return False
    if not alike and all(one == elements[0] for one in elements[1:]):
        return False
    return not all(map(_is_plain, elements)) or chooses_by(target, body)


def are_few(run: Run, elements: tuple[Value, ...], *, made: bool = True) -> bool:
    """Whether so few elements are walked one by one: a comprehension makes one of each."""
    most, together = (_MOST_MADE, _MOST_MADE_TOGETHER) if made else (_MOST, _MOST_TOGETHER)
    return len(elements) <= most and run.together * len(elements) <= together


def is_never_entered(iterated: Value, elements: tuple[Value, ...] | None) -> bool:
    """Whether a loop counts to nothing: `range(torch.cuda.device_count())` without an accelerator.

    A list that is empty here may be filled by somebody else, but for one that a filter left empty.
    """
    if elements != ():
        return False
    is_filtered = isinstance(iterated, ListOf) and isinstance(iterated.site, cst.ListComp)
    return is_filtered or isinstance(iterated, Tuple)


def _is_plain(value: Value) -> bool:
    """Whether a value is a number or a name, or several of them."""
    if isinstance(value, Tuple):
        return all(map(_is_plain, value.items))
    return isinstance(value, (Const, HostValue))


@contextmanager
def iteration(run: Run, number: int, of: int) -> Iterator[None]:
    """One iteration of a loop whose iterations are walked one by one."""
    frame, before = run.frame, run.together
    outer = frame.iteration
    frame.iteration = (*outer, number)
    run.together = before * of
    yield
    frame.iteration, run.together = outer, before


@cached_of_nodes(1_000)
def chooses_by(target: cst.BaseExpression, body: cst.CSTNode) -> bool:
    """Whether a loop takes something by its target: as a key, or as what is asked of it."""
    return is_chosen_by(frozenset(names_bound_by(target)), body)


def is_chosen_by(names: frozenset[str], body: cst.CSTNode) -> bool:
    """Whether a loop takes something by what lies under these names."""
    return not names.isdisjoint(_names_that_choose(body))


@cached_of_nodes(1_000)
def _names_that_choose(body: cst.CSTNode) -> frozenset[str]:
    return frozenset().union(*map(names_in, _selecting(body)))


_BY_NAME = frozenset({"getattr", "setattr", "hasattr", "delattr"})
_BY_KEY = frozenset({"get", "pop", "setdefault", "insert", "__getitem__", "__setitem__"})


_MAY_SELECT = frozenset(
    {
        *(cst.Subscript, cst.If, cst.IfExp, cst.While, cst.Assert, cst.CompIf),
        *(cst.Comparison, cst.Match, cst.DictComp, cst.Call),
    }
)


def _selecting(body: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The expressions of a loop that choose: keys, conditions, names of attributes."""
    for node in descendants(body):
        if type(node) not in _MAY_SELECT:
            continue
        match node:
            case cst.Subscript():
                yield from node.slice
            case cst.If() | cst.IfExp() | cst.While() | cst.Assert() | cst.CompIf():
                yield node.test
            case cst.Comparison() | cst.Match():
                yield node
            case cst.DictComp():
                yield node.key
            case cst.Call(func=cst.Name(value=name)) if name in _BY_NAME:
                yield from node.args
            case cst.Call(func=cst.Attribute(attr=cst.Name(value=name))) if name in _BY_KEY:
                yield from node.args
            case cst.Call(func=cst.Subscript()):
                yield node.func
            case _:
                pass


def joined_constant(elements: tuple[Value, ...]) -> Value:
    """The items of `for device in ("cpu", "cuda")`: one of several devices."""
    if len(set(elements)) == 1:
        return elements[0]
    if all(isinstance(one, (Const, HostValue)) for one in elements):
        names = all(isinstance(one, Const) and isinstance(one.value, str) for one in elements)
        return DeviceHandle(Unsure("one of several"), is_object=False) if names else HostValue()
    return Unknown("one of several")

"""Loops of a file that do the same with what they get, of which one moves it."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Mapping
from itertools import chain

import libcst as cst

from devicelint.interpreter.engine.nodes import cached_of_nodes, descendants
from devicelint.interpreter.facts.loop_shapes import LoopShape, Move, TargetGroup, shapes_in
from devicelint.interpreter.facts.qualified_names import written


def mirrored(tree: cst.Module, shape: LoopShape, group: TargetGroup) -> Mapping[int, Move]:
    """What another loop of such a target moves of what it gets, by the position in the batch.

    Any loop may have one name for its target: such a twin gives it to what this one gives it to.
    """
    for other in shapes_in(tree).values():
        if other is shape or not (shape.is_over_a_name and other.is_over_a_name):
            continue
        for one in other.groups.values():
            alike = len(one.names) == len(group.names) and one.is_unpacked is group.is_unpacked
            if alike and one.moves and (group.is_unpacked or _end_alike(one, group)):
                return one.moves
    return {}


_OF_PYTHON = frozenset({"", *dir(builtins)})
"""What is called with anything, `len` and `print`, or is no name."""


def _end_alike(one: TargetGroup, other: TargetGroup) -> bool:
    """Whether two loops give what they get to one function or module."""
    return not _receivers(one).isdisjoint(_receivers(other))


@cached_of_nodes(64)
def _receivers(group: TargetGroup) -> frozenset[str]:
    """What a loop calls with what it gets, moved on the way or not: `model`, `self.step`."""
    moves = (calls_with(move) for move in group.moves.values())
    names = (calls_given(group.loop, one.value) for one in group.names if one is not None)
    return frozenset(map(written, chain(*moves, *names))) - _OF_PYTHON


def moved_elsewhere(tree: cst.Module, name: object) -> Move | None:
    """The move that another loop makes of what stands in its target where this name does."""
    for shape in shapes_in(tree).values():
        for group in shape.groups.values():
            for position, one in enumerate(group.names):
                if one is name:
                    return mirrored(tree, shape, group).get(position)
    return None


def calls_with(move: Move) -> Iterator[cst.BaseExpression]:
    """What is called with a moved name in its loop."""
    yield from calls_given(move.loop, move.name)
    for node in descendants(move.loop.body):
        if isinstance(node, cst.Call) and any(one.value is move.call for one in node.args):
            yield node.func


def calls_given(loop: cst.For, name: str) -> Iterator[cst.BaseExpression]:
    """What is called with a name in a loop."""
    for node in descendants(loop.body):
        if isinstance(node, cst.Call) and any(_is_of(one.value, name) for one in node.args):
            yield node.func


def _is_of(node: cst.BaseExpression, name: str) -> bool:
    """Whether an argument is what a name holds, or a part of it: `batch`, `batch["x"].float()`."""
    while isinstance(node, (cst.Attribute, cst.Subscript, cst.Call)):
        node = node.func if isinstance(node, cst.Call) else node.value
    return isinstance(node, cst.Name) and node.value == name

"""What the loops of a file look like: their loaders, their targets, and what each of them moves.

Nothing is evaluated here: this is about how loops are written, to compare one with another.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import libcst as cst

from devicelint.domain.history import Site
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.nodes import descendants, in_order, names_bound_by
from devicelint.interpreter.facts.device_words import holds_device

Condition = tuple[cst.BaseExpression, bool]
"""A test, and which of its branches was taken."""


@dataclass(frozen=True, eq=False)
class Move:
    """What a loop sends to an accelerator, under the tests around it inside of the loop."""

    call: cst.Call
    name: str
    loop: cst.For
    conditions: tuple[Condition, ...]


@dataclass(frozen=True, eq=False)
class TargetGroup:
    """The names that a loop gives to what one loader yields; None for another target."""

    names: tuple[cst.Name | None, ...]
    is_unpacked: bool
    loop: cst.For

    @functools.cached_property
    def moves(self) -> Mapping[int, Move]:
        """What the loop moves of them, by the position among the names."""
        return _moves(self)


@dataclass(frozen=True, eq=False)
class LoopShape:
    """One loop: whether it is over what a name holds, and the groups of names in its target."""

    is_over_a_name: bool
    groups: Mapping[cst.BaseExpression, TargetGroup]


def shape_of(tree: cst.Module, node: cst.For) -> LoopShape | None:
    """The shape of a loop of this file."""
    return shapes_in(tree).get(node)


def move_at(tree: cst.Module, call: object) -> Move | None:
    """The move that a call in a loop is."""
    for shape in shapes_in(tree).values():
        for group in shape.groups.values():
            for move in group.moves.values():
                if move.call is call:
                    return move
    return None


@functools.lru_cache(maxsize=1)
def shapes_in(tree: cst.Module) -> Mapping[cst.For, LoopShape]:
    """The loops of a file, each with its shape."""
    return {loop: _shape(loop) for loop in _loops(tree.body)}


def _loops(body: object) -> Iterator[cst.For]:
    waiting = [body]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, (list, tuple)):
            waiting[:0] = node
            continue
        if type(node) is cst.SimpleStatementLine:
            continue
        if type(node) is cst.For:
            yield node
        for name in ("body", "orelse", "handlers", "finalbody", "cases"):
            inner = getattr(node, name, None)
            if inner is not None:
                waiting.append(inner)


def _shape(loop: cst.For) -> LoopShape:
    groups = dict(_groups(loop, loop.target))
    if any(map(_mixes, descendants(loop.iter))):
        groups = {target: one for target, one in groups.items() if not one.is_unpacked}
    return LoopShape(_is_over_a_name(loop.iter), groups)


_MIXERS = frozenset({"zip", "zip_longest", "product", "items"})
"""Calls whose parts do not come out of one loader."""
_WRAPPERS = frozenset({"enumerate", "tqdm", "iter", "track", "islice", "log_every", "trange"})


def _mixes(node: cst.CSTNode) -> bool:
    name = _name_called(node)
    return name in _MIXERS or name.startswith("named_")


def _name_called(node: cst.CSTNode) -> str:
    """The last name of what a call calls; empty for what is none."""
    func = node.func if isinstance(node, cst.Call) else None
    name = func.attr if isinstance(func, cst.Attribute) else func
    return name.value if isinstance(name, cst.Name) else ""


def _is_over_a_name(node: cst.BaseExpression) -> bool:
    """Whether a loop goes over what a name holds, or a part of that: `enumerate(loaders["x"])`."""
    while isinstance(node, cst.Call) and node.args and _name_called(node) in _WRAPPERS:
        node = node.args[0].value
    while isinstance(node, (cst.Attribute, cst.Subscript)):
        node = node.value
    return isinstance(node, cst.Name)


def _groups(
    loop: cst.For, target: cst.BaseExpression
) -> Iterator[tuple[cst.BaseExpression, TargetGroup]]:
    if isinstance(target, cst.Name):
        yield target, TargetGroup((target,), False, loop)
    elif isinstance(target, (cst.Tuple, cst.List)):
        values = [element.value for element in target.elements]
        names = tuple(one if isinstance(one, cst.Name) else None for one in values)
        yield target, TargetGroup(names, True, loop)
        for one in values:
            yield from _groups(loop, one)


def _moves(group: TargetGroup) -> Mapping[int, Move]:
    moves: dict[int, Move] = {}
    positions = {one.value: at for at, one in enumerate(group.names) if one is not None}
    assigned: set[str] = set()
    for statement, conditions in _statements(group.loop.body.body, ()):
        nodes = tuple(descendants(statement))
        _follow_comprehensions(nodes, positions, assigned)
        for node in nodes:
            moved = _root_of_move(node)
            if moved in positions and moved not in assigned:
                assert isinstance(node, cst.Call)
                move = Move(node, moved, group.loop, conditions)
                moves[positions[moved]] = _either(moves.get(positions[moved]), move)
        _note_assigned(statement, positions, assigned)
    return moves


def is_moved_first(group: TargetGroup, at: int) -> bool:
    """Whether a loop begins, with what it gives a name, by moving that: `x = x.to(device)`."""
    move = group.moves.get(at)
    if move is None:
        return False
    for statement, conditions in _statements(group.loop.body.body, ()):
        tests = [test for test, _ in conditions if _speaks_of(test, move.name)]
        if tests or _speaks_of(statement, move.name):
            return (
                isinstance(statement, cst.Assign)
                and statement.value is move.call
                and tuple(names_bound_by(statement.targets[0].target)) == (move.name,)
                and len(tests) == len(conditions)
            )
    return False


def _speaks_of(node: cst.CSTNode, name: str) -> bool:
    return any(isinstance(one, cst.Name) and one.value == name for one in descendants(node))


def _either(before: Move | None, move: Move) -> Move:
    """The move that is made first; of two that a test separates, one is made in any case."""
    if before is None:
        return move
    around, tests = before.conditions[:-1], (*before.conditions[-1:], *move.conditions[-1:])
    separated = len(tests) == 2 and tests[0][0] is tests[1][0] and tests[0][1] is not tests[1][1]
    if separated and around == move.conditions[:-1]:
        return replace(move, conditions=around)
    return before


def _follow_comprehensions(
    nodes: tuple[cst.CSTNode, ...], positions: dict[str, int], assigned: set[str]
) -> None:
    """`[part.to(device) for part in parts]`: a part of what the loader gave."""
    for node in nodes:
        if isinstance(node, cst.CompFor):
            whole = _root(node.iter)
            if whole in positions and whole not in assigned:
                names = [one for one in names_bound_by(node.target) if one not in positions]
                positions.update(dict.fromkeys(names, positions[whole]))


def _note_assigned(statement: cst.CSTNode, positions: dict[str, int], assigned: set[str]) -> None:
    """A name that gets another value is no longer what the loader gave; a part of that still is."""
    if not isinstance(statement, cst.Assign):
        return
    sources = {
        name: _root(value)
        for target in statement.targets
        for one, value in _pairs(target.target, statement.value)
        for name in names_bound_by(one)
    }
    parts = {name: whole for name, whole in sources.items() if whole not in assigned}
    for name, whole in sources.items():
        if whole in positions and name in parts and name not in positions:
            positions[name] = positions[whole]
        elif name != whole:
            assigned.add(name)


def _pairs(
    target: cst.BaseExpression, value: cst.BaseExpression
) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression]]:
    """Each target of an assignment with what it is given, as far as the code spells that out."""
    targets, values = _elements(target), _elements(value)
    if targets and len(targets) == len(values):
        for one, given in zip(targets, values, strict=True):
            yield from _pairs(one.value, given.value)
    else:
        yield target, value


def _elements(node: cst.BaseExpression) -> Sequence[cst.BaseElement]:
    return node.elements if isinstance(node, (cst.Tuple, cst.List)) else ()


def _statements(
    body: object, conditions: tuple[Condition, ...]
) -> Iterator[tuple[cst.CSTNode, tuple[Condition, ...]]]:
    """The simple statements of a block in order, and the tests under which each stands."""
    for node in body if isinstance(body, (list, tuple)) else ():
        if isinstance(node, cst.SimpleStatementLine):
            yield from ((one, conditions) for one in node.body)
        elif isinstance(node, cst.If):
            yield from _statements(node.body.body, (*conditions, (node.test, True)))
            rest = node.orelse
            if rest is not None:
                inner = rest.body.body if isinstance(rest, cst.Else) else (rest,)
                yield from _statements(inner, (*conditions, (node.test, False)))
        elif isinstance(node, (cst.For, cst.While, cst.With, cst.Try)):
            yield from _statements(node.body.body, conditions)


def _root_of_move(node: cst.CSTNode) -> str | None:
    """The name whose value a call sends to an accelerator: `x` in `x[0].to(device)`."""
    if not (isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute)):
        return None
    method = node.func.attr.value
    if method == "cuda" or (method == "to" and any(map(_names_device, node.args))):
        return _root(node.func.value)
    return None


def _names_device(argument: cst.Arg) -> bool:
    """Whether an argument of `.to()` names a device that is not the CPU for sure."""
    given = argument.value
    node = given.attr if isinstance(given, cst.Attribute) else given
    return isinstance(node, (cst.Name, cst.SimpleString)) and holds_device(node.value)


def _root(node: cst.BaseExpression) -> str | None:
    """The name that an item or a method's result is taken from.

    An attribute tells nothing of its object: others of its attributes may be elsewhere.
    """
    while isinstance(node, (cst.Subscript, cst.Call)):
        if isinstance(node, cst.Call):
            if not isinstance(node.func, cst.Attribute):
                return None
            node = node.func.value
        else:
            node = node.value
    return node.value if isinstance(node, cst.Name) else None


def comes_round(frame: Frame, site: Site) -> bool:
    """Whether a place follows in a loop around what is walked: it is met the next time round."""
    for outer in frame.outwards():
        for loop in outer.loops:
            both = (site, outer.statement)
            found = [one for one in in_order(loop.node.body) if one in both]
            if len(found) == len(both):
                return found[-1] is site
    return False

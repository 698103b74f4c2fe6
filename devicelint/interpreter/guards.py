"""Moves under the program's own conditions: `if use_cuda: net.cuda()`, `x.cuda() if gpu else x`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import pairwise

import libcst as cst

from devicelint.domain.devices import CPU, Known, is_accelerator
from devicelint.domain.events import Transfer
from devicelint.domain.guard_events import ChosenType, Condition, Guard, GuardedMoves
from devicelint.domain.history import Site
from devicelint.interpreter.chosen_types import chosen_types
from devicelint.interpreter.conditions import Asked, around, asked_by, asks_machine
from devicelint.interpreter.guard_devices import condition_of, device_held, free_device_name
from devicelint.interpreter.guard_shapes import (
    Branch,
    calls_below,
    does_nothing_else,
    is_same,
)
from devicelint.interpreter.name_reads import Reads, reads_of
from devicelint.interpreter.run import Run
from devicelint.interpreter.settling import settled

Found = tuple[Asked, Guard | ChosenType]
_SCOPES = (cst.FunctionDef, cst.ClassDef, cst.Lambda)


def announce_guards(run: Run) -> None:
    """Announce, for each condition, the moves that are made under it and nothing else."""
    if not run.world.accelerators or not _WRITTEN_OUT.search(run.module_code):
        return
    reads = reads_of(run.module)
    groups: dict[tuple[Site, str], list[Found]] = {}
    for asked, guard in _guards(run, reads):
        groups.setdefault(asked.key, []).append((asked, guard))
    for asked, chosen in chosen_types(run, reads):
        groups.setdefault(asked.key, []).append((asked, chosen))
    found = (_decided(run, reads, group) for group in groups.values())
    for event in _one_by_one(reads, [one for one in found if one is not None]):
        run.announce(event)


_WRITTEN_OUT = re.compile(r"\.(?:cuda|xpu)\(|\.to\([^)]*[\"']|cuda\.\w+Tensor")
"""A move that says itself where it goes."""


def _one_by_one(reads: Reads, found: list[GuardedMoves]) -> Iterator[GuardedMoves]:
    """Those that do not define the same name twice: the others come once that is there.

    What asks for an accelerator by a flag shares the device of what asks torch directly.
    """
    at_top = any(one.condition.known_after is None for one in found if _asks_torch(one))
    named: list[GuardedMoves] = []
    for one in sorted(found, key=lambda one: not _asks_torch(one)):
        shared = at_top and _asks_torch(one)
        defines = one.held is None and not shared
        if not defines or not any(_meets(reads, one, other) for other in named):
            named.append(one)
            yield replace(one, at_top=shared)


def _asks_torch(one: GuardedMoves) -> bool:
    return one.condition.asks_machine and one.held is None and not one.condition.prefix


def _meets(reads: Reads, one: GuardedMoves, other: GuardedMoves) -> bool:
    """Whether two would define one name where both are seen."""
    if one.name != other.name or other.held is not None:
        return False
    return (
        one.scope is other.scope
        or _stands_in(reads, other, one.scope)
        or _stands_in(reads, one, other.scope)
    )


def _stands_in(reads: Reads, one: GuardedMoves, scope: Site) -> bool:
    """Whether a guard stands in a function."""
    sites = (*map(_site, one.guards), *map(_site, one.types))
    inner = isinstance(scope, cst.FunctionDef)
    return inner and any(scope in set(around(reads, site)) for site in sites)


def _decided(run: Run, reads: Reads, found: list[Found]) -> GuardedMoves | None:
    """What is to be told of the guards that ask the same."""
    asked = found[0][0]
    guards = tuple(one for _, one in found if isinstance(one, Guard))
    types = tuple(one for _, one in found if isinstance(one, ChosenType))
    if asks_machine(run, asked.expression):
        condition = Condition(asked.code, asks_machine=True)
        if asked.code.startswith("not "):
            return None
    else:
        place = settled(reads, asked)
        if place is None:
            return None
        guards = tuple(one for one in guards if place.precedes(reads, _node(one.site)))
        types = tuple(one for one in types if place.precedes(reads, _node(one.site)))
        condition = condition_of(run, reads, asked, place, (*guards, *types))
    moves = [run.moves[move] for guard in guards for move in guard.moves]
    device = _one_device(moves) if moves or types or condition.asks_machine else None
    sites = [_node(one) for one in (*map(_site, guards), *map(_site, types))]
    if device is None or not sites:
        return None
    held = device_held(run, reads, condition, sites, device)
    name = free_device_name(run, reads, condition, sites)
    return GuardedMoves(sites[0], condition, asked.scope, device, guards, types, held, name)


def _site(one: Guard | ChosenType) -> Site:
    return one.site


def _node(site: Site) -> cst.CSTNode:
    assert isinstance(site, cst.CSTNode)
    return site


def _one_device(moves: list[Transfer]) -> str | None:
    """The one device that moves go to: "cuda", and "cuda:1" only where the code says so."""
    devices = {move.target for move in moves} or {Known("cuda")}
    kinds = {(one.type, one.index or 0) for one in devices if isinstance(one, Known)}
    if len(kinds) != 1:
        return None
    kind, index = kinds.pop()
    return f"{kind}:{index}" if index or Known(kind) not in devices else kind


def _guards(run: Run, reads: Reads) -> Iterator[tuple[Asked, Guard]]:
    """The guards of a file, the outermost of nested ones, in the order of the walk."""
    calls = [call for call in run.moves if isinstance(call, cst.Call)]
    hard = dict.fromkeys(call for call in calls if _is_hard(call, run.moves[call]))
    tried: dict[Site, tuple[Asked, Guard] | None] = {}
    for call in hard:
        for node in reversed(list(_conditions_around(reads, call))):
            known = node in tried
            found = tried[node] = tried[node] if known else _guard(run, reads, node, hard)
            if found is not None:
                yield from () if known else (found,)
                break


def _is_hard(call: cst.Call, move: Transfer) -> bool:
    """Whether a move goes where it says itself: `.cuda()`, `.to("cuda")`, `.cpu()`."""
    if move.target == CPU:
        return move.method == "cpu"
    places = [one for one in call.args if one.keyword is None or one.keyword.value == "device"]
    literal = all(isinstance(one.value, (cst.Integer, cst.SimpleString)) for one in places[:1])
    return move.target is not None and is_accelerator(move.target) and literal


def _conditions_around(reads: Reads, call: cst.CSTNode) -> Iterator[cst.If | cst.IfExp]:
    node, parent = call, reads.around.get(call)
    while parent is not None and not isinstance(parent, _SCOPES):
        if isinstance(parent, (cst.If, cst.IfExp)) and node is not parent.test:
            yield parent
        node, parent = parent, reads.around.get(parent)


def _guard(
    run: Run, reads: Reads, node: cst.If | cst.IfExp, hard: Collection[cst.Call]
) -> tuple[Asked, Guard] | None:
    body, orelse = _branches(reads, node)
    if body is None:
        return None
    in_body = _moves_in(run, body, hard)
    in_other = _moves_in(run, orelse or (), hard)
    there, not_there = _to_accelerators(run, in_body), _to_accelerators(run, in_other)
    if there and not_there:
        return None
    moved = bool(there) or (not not_there and len(in_body) > len(in_other))
    asked = asked_by(run, reads, node, moved=moved)
    if asked is None:
        return None
    if orelse is None:
        guard = _alone(reads, node, body, there, hard)
    else:
        guard = _either(run, node, (body, orelse) if moved else (orelse, body), hard)
        if guard is None and moved:
            guard = _some(node, body, there, hard, first_only=True)
    return None if guard is None else (asked, guard)


def _branches(reads: Reads, node: cst.If | cst.IfExp) -> tuple[Branch | None, Branch | None]:
    """Both branches; None for the first where they cannot be folded, as of `elif`."""
    if isinstance(node, cst.IfExp):
        return (node.body,), (node.orelse,)
    parent = reads.around.get(node)
    if isinstance(node.orelse, cst.If) or (isinstance(parent, cst.If) and parent.orelse is node):
        return None, None
    return tuple(node.body.body), None if node.orelse is None else tuple(node.orelse.body.body)


def _moves_in(run: Run, branch: Branch, hard: Collection[cst.Call]) -> list[cst.Call]:
    return [call for node in branch for call in calls_below(node) if call in hard]


def _to_accelerators(run: Run, calls: list[cst.Call]) -> list[cst.Call]:
    return [call for call in calls if run.moves[call].target != CPU]


def _alone(
    reads: Reads,
    node: cst.If | cst.IfExp,
    body: Branch,
    moves: list[cst.Call],
    hard: Collection[cst.Call],
) -> Guard | None:
    """`if use_cuda: net.cuda()`, and the moves among other statements of such a block."""
    assert isinstance(node, cst.If)
    if does_nothing_else(hard, body):
        return Guard(node, node.body, tuple(moves))
    after = _statement_after(reads, node)
    if after is not None and len(body) == 1 and _returns(body[0]) and _returns(after):
        return (
            Guard(node, node.body, tuple(moves), repeated=after)
            if is_same(hard, body, (after,))
            else None
        )
    return _some(node, body, moves, hard, first_only=False)


def _some(
    node: cst.If | cst.IfExp,
    body: Branch,
    moves: list[cst.Call],
    hard: Collection[cst.Call],
    *,
    first_only: bool,
) -> Guard | None:
    """The first moves of a block, or else the last ones, where other statements stay."""
    if not isinstance(node, cst.If) or not isinstance(node.body, cst.IndentedBlock):
        return None
    taken = _taken(body, hard)
    if not taken or (first_only and taken[0] is not body[0]):
        return None
    within = {call for one in taken for call in calls_below(one)}
    return Guard(node, node.body, tuple(m for m in moves if m in within), taken)


def _taken(body: Branch, hard: Collection[cst.Call]) -> tuple[cst.CSTNode, ...]:
    """The first statements of a block that do nothing but move, or else the last ones."""

    def only_moves(statement: cst.CSTNode) -> bool:
        moved = any(call in hard for call in calls_below(statement))
        return moved and does_nothing_else(hard, (statement,))

    for statements in (list(body), list(reversed(body))):
        taken: list[cst.CSTNode] = []
        while len(taken) < len(body) and only_moves(statements[len(taken)]):
            taken.append(statements[len(taken)])
        if taken:
            return tuple(taken if statements[0] is body[0] else reversed(taken))
    return ()


def _either(
    run: Run, node: cst.If | cst.IfExp, branches: tuple[Branch, Branch], hard: Collection[cst.Call]
) -> Guard | None:
    """Two branches that say the same but for the moves; one that moves nothing anew is dropped."""
    moved, other = branches
    idle = isinstance(node, cst.If) and does_nothing_else((), other)
    if not (is_same(hard, moved, other) or (idle and does_nothing_else(hard, moved))):
        return None
    moves = _to_accelerators(run, _moves_in(run, moved, hard))
    if moves and all(_moves_nothing(run.moves[move]) for move in moves):
        return Guard(node, _kept(node, other), ())
    return Guard(node, _kept(node, moved), tuple(moves))


def _moves_nothing(move: Transfer) -> bool:
    """Whether what is made right there is made on that device already: `w.new(2).zero_()`."""
    return move.origin == move.target and isinstance(move.receiver_site, cst.Call)


def _kept(node: cst.If | cst.IfExp, branch: Branch) -> cst.CSTNode:
    if isinstance(node, cst.IfExp):
        return branch[0]
    return node.body if node.body.body[0] is branch[0] else _suite(node)


def _suite(node: cst.If) -> cst.CSTNode:
    assert isinstance(node.orelse, cst.Else)
    return node.orelse


def _statement_after(reads: Reads, node: cst.CSTNode) -> cst.CSTNode | None:
    block = reads.around.get(node)
    body = list(block.body) if isinstance(block, (cst.IndentedBlock, cst.Module)) else []
    following = [two for one, two in pairwise(body) if one is node]
    return following[0] if following else None


def _returns(statement: cst.CSTNode) -> bool:
    return isinstance(statement, cst.SimpleStatementLine) and isinstance(
        statement.body[0], cst.Return
    )

"""Moves under the program's own conditions: `if use_cuda: net.cuda()`, `x.cuda() if gpu else x`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

import libcst as cst

from devicelint.domain.devices import CPU, is_accelerator
from devicelint.domain.events import Transfer
from devicelint.domain.guard_events import Guard
from devicelint.domain.history import Site
from devicelint.interpreter.analyses.guards.conditions import Asked, asked_by
from devicelint.interpreter.analyses.guards.shapes import (
    Branch,
    calls_below,
    does_nothing_else,
    is_same,
)
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.name_uses import Reads

Moves = dict[Site, Transfer]
"""The transfers of a file, by the place of each."""
Hard = Mapping[cst.Call, Transfer]
"""Those that say themselves where they go."""
_SCOPES = (cst.FunctionDef, cst.ClassDef, cst.Lambda)


def guards_of(run: Run, reads: Reads, moves: Moves) -> Iterator[tuple[Asked, Guard]]:
    """The guards of a file, the outermost of nested ones, in the order of the walk."""
    calls = [call for call in moves if isinstance(call, cst.Call)]
    hard = {call: moves[call] for call in calls if _is_hard(call, moves[call])}
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
    run: Run, reads: Reads, node: cst.If | cst.IfExp, hard: Hard
) -> tuple[Asked, Guard] | None:
    body, orelse = _branches(reads, node)
    if body is None:
        return None
    in_body = _moves_in(run, body, hard)
    in_other = _moves_in(run, orelse or (), hard)
    there, not_there = _to_accelerators(in_body, hard), _to_accelerators(in_other, hard)
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


def _moves_in(run: Run, branch: Branch, hard: Hard) -> list[cst.Call]:
    return [call for node in branch for call in calls_below(node) if call in hard]


def _to_accelerators(calls: list[cst.Call], hard: Hard) -> list[cst.Call]:
    return [call for call in calls if hard[call].target != CPU]


def _alone(
    reads: Reads,
    node: cst.If | cst.IfExp,
    body: Branch,
    moves: list[cst.Call],
    hard: Hard,
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
    hard: Hard,
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


def _taken(body: Branch, hard: Hard) -> tuple[cst.CSTNode, ...]:
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
    run: Run, node: cst.If | cst.IfExp, branches: tuple[Branch, Branch], hard: Hard
) -> Guard | None:
    """Two branches that say the same but for the moves; one that moves nothing anew is dropped."""
    moved, other = branches
    idle = isinstance(node, cst.If) and does_nothing_else((), other)
    if not (is_same(hard, moved, other) or (idle and does_nothing_else(hard, moved))):
        return None
    moves = _to_accelerators(_moves_in(run, moved, hard), hard)
    if moves and all(_moves_nothing(hard[move]) for move in moves):
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

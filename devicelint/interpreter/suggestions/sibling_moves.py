"""Modules that a script moves by name, one after the other: where one that was left out belongs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import libcst as cst

from devicelint.domain.devices import Device
from devicelint.domain.history import Site, Step, Verb
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.nodes import children, descendants, names_bound_by
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.suggestions.device_expressions import Spelling
from devicelint.interpreter.suggestions.walk_notes import (
    AttributeAssignments,
    MovedName,
    NamedMoves,
    assigned_names,
)


@dataclass(frozen=True)
class Beside:
    """A statement that moves a module, and where it goes."""

    name: str
    content: str
    move: str
    anchor: cst.CSTNode
    where: Literal["before", "after"]


def beside_siblings(run: Run, built: cst.Call, target: Device) -> Beside | None:
    """Where the module that a call builds is moved with those that the same code moves."""
    made = run.made_in.get(built)
    name = None if made is None else name_given(made[0], built)
    if made is None or name is None:
        return None
    frame, moment = made
    siblings = [
        one
        for one in run.hearer(NamedMoves).moves.values()
        if one.frame is frame and one.moment > moment and one.target == target and one.name != name
    ]
    if not siblings:
        return None
    earlier = [one for one in siblings if _built_at(run, one) < moment]
    sibling = earlier[-1] if earlier else siblings[0]
    receiver = sibling.call.func
    assert isinstance(receiver, cst.Attribute)
    move = run.code_of(sibling.call)[len(run.code_of(receiver.value)) :]
    moved = f"{name}{move}"
    content = f"{name} = {moved}" if isinstance(sibling.statement, cst.Assign) else moved
    return Beside(name, content, move, sibling.statement, "after" if earlier else "before")


def after_its_building(run: Run, built: cst.Call, device: Device, move: Site) -> Beside | None:
    """Where a module is moved that was built too early, or that is moved under a condition."""
    made = run.made_in.get(built)
    if made is None:
        return None
    frame, moment = made
    name, spelled = name_given(frame, built), Spelling(run, frame).of(device)
    if name is not None and spelled is not None:
        return _once_named(run, made, frame.bindings[name], name, spelled)
    kept = [one for one in _attributes_given(run) if one[1].value is built]
    if kept and spelled is not None:
        return _once_named(run, made, kept[0][1], run.code_of(kept[0][0]), spelled)
    if name is None:
        return None
    return _on_condition(run, frame, moment, name, move) if isinstance(move, cst.Call) else None


def as_it_is_kept(run: Run, kept: Site, spelled: str | None) -> cst.BaseExpression | None:
    """The model in `self.model = model`, where `self.device` has got its value before."""
    if not isinstance(kept, cst.Attribute):
        return None
    given = {run.code_of(target): one for target, one in _attributes_given(run)}
    statement, before = given.get(run.code_of(kept)), given.get(spelled or "")
    if statement is None or before is None or not isinstance(statement.value, cst.Name):
        return None
    block = _block_of(run, statement)
    if block is None or block is not _block_of(run, before):
        return None
    code = run.code_of(block)
    follows = code.find(run.code_of(before)) < code.find(run.code_of(statement))
    return statement.value if follows else None


def _attributes_given(run: Run) -> Iterator[tuple[cst.Attribute, cst.Assign]]:
    """The attributes that the file gives a value, each with a statement that does."""
    for target, statement in run.hearer(AttributeAssignments).statements.items():
        if isinstance(target, cst.Attribute) and isinstance(statement, cst.Assign):
            yield target, statement


def _once_named(
    run: Run, made: tuple[Frame, int], building: Site, name: str, spelled: str
) -> Beside | None:
    """`net.to(device)` where the device gets its name, in the block in which the module did.

    An attribute may be moved further in: under the condition under which there is that device.
    """
    frame, moment = made
    binding = frame.bindings.get(spelled)
    if frame.last_bound.get(spelled, -1) <= moment or not isinstance(binding, cst.Assign):
        return None
    block, around = _block_of(run, building), _around(run, binding)
    is_inside = "." in name and any(one is block for one in around)
    if block is not _block_of(run, binding) and not is_inside:
        return None
    move = f".to({spelled})"
    return Beside(name, f"{name}{move}", move, binding, "after")


def _on_condition(run: Run, frame: Frame, moment: int, name: str, move: cst.Call) -> Beside | None:
    """`if use_cuda: net.cuda()`, where the input is moved so by a global flag."""
    around = _around(run, move)
    tests = [one.test for one in around if isinstance(one, cst.If)]
    if len(tests) != 1 or any(isinstance(one, cst.Else) for one in around) or move.args:
        return None
    test, func = tests[0], move.func
    if not isinstance(test, cst.Name) or not isinstance(func, cst.Attribute):
        return None
    known_since = frame.last_bound.get(test.value, moment + 1)
    if frame.home != frame.ref or known_since > moment or func.attr.value not in ("cuda", "xpu"):
        return None
    moved = f".{func.attr.value}()"
    content = f"if {test.value}:\n    {name}{moved}"
    binding = frame.bindings[name]
    assert isinstance(binding, cst.Assign)
    return Beside(name, content, moved, binding, "after")


def move_of_neighbour(run: Run, built: cst.Call, since: Step | None) -> str | None:
    """`.to(device)` of a statement above in the block, where `device` is the same since then."""
    move = None if since is None or since.verb is not Verb.MOVED else since.site
    if not isinstance(move, cst.Call) or not isinstance(move.func, cst.Attribute):
        return None
    block = _block_of(run, built)
    above, here = _line_of(run, move), _line_of(run, built)
    if not isinstance(block, cst.IndentedBlock) or above not in block.body:
        return None
    between = block.body[block.body.index(above) : block.body.index(here)]
    read = {one.value for arg in move.args for one in descendants(arg) if isinstance(one, cst.Name)}
    if not between or read.intersection(_bound_in(between)):
        return None
    return run.code_of(move)[len(run.code_of(move.func.value)) :]


def _line_of(run: Run, node: cst.CSTNode) -> cst.CSTNode:
    lines = (one for one in _around(run, node) if isinstance(one, cst.SimpleStatementLine))
    return next(lines, node)


def _bound_in(statements: Iterable[cst.CSTNode]) -> Iterator[str]:
    for statement in statements:
        for one in descendants(statement):
            if isinstance(one, cst.AssignTarget):
                yield from names_bound_by(one.target)


def _block_of(run: Run, statement: Site) -> cst.CSTNode | None:
    """The block in which a statement stands."""
    assert isinstance(statement, cst.CSTNode)
    blocks = (cst.IndentedBlock, cst.Module)
    return next((one for one in _around(run, statement) if isinstance(one, blocks)), None)


def _around(run: Run, node: cst.CSTNode) -> list[cst.CSTNode]:
    """What a node stands in, the innermost first; nothing, where it is of another file."""
    parents: dict[cst.CSTNode, cst.CSTNode] = {}
    for one in descendants(run.module):
        parents.update((child, one) for child in children(one))
    path: list[cst.CSTNode] = []
    while (parent := parents.get(path[-1] if path else node)) is not None:
        path.append(parent)
    return path


def name_given(frame: Frame, built: cst.Call) -> str | None:
    """The name that a call's result is given, and keeps, in a frame."""
    for name, statement in frame.bindings.items():
        if isinstance(statement, cst.Assign) and statement.value is built:
            return name if list(assigned_names(statement)) == [name] else None
    return None


def _built_at(run: Run, moved: MovedName) -> int:
    made = run.made_in.get(moved.built)
    return moved.moment if made is None else made[1]

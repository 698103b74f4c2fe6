"""Modules that a script moves by name, one after the other: where one that was left out belongs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import libcst as cst

from devicelint.domain.devices import Device
from devicelint.domain.history import Site
from devicelint.interpreter.frame import Frame
from devicelint.interpreter.memory import MovedName
from devicelint.interpreter.run import Run


@dataclass(frozen=True)
class Beside:
    """A statement that moves a module, and where it goes."""

    name: str
    content: str
    move: str
    sibling: cst.CSTNode
    where: Literal["before", "after"]


def note_moved_name(run: Run, call: cst.Call, target: Device, built: Site = None) -> None:
    """Remember that a statement moves what a name stands for."""
    func, statement = call.func, run.frame.statement
    if not (isinstance(func, cst.Attribute) and isinstance(func.value, cst.Name)):
        return
    name = func.value.value
    if not isinstance(statement, (cst.Expr, cst.Assign)) or statement.value is not call:
        return
    if isinstance(statement, cst.Assign) and list(_targets(statement)) != [name]:
        return
    if run.frame.is_checked:
        found = MovedName(name, statement, call, target, run.frame, run.moment, built)
        run.moved_names[statement] = found


def beside_siblings(run: Run, built: cst.Call, target: Device) -> Beside | None:
    """Where the module that a call builds is moved with those that the same code moves."""
    made = run.made_in.get(built)
    name = None if made is None else name_given(made[0], built)
    if made is None or name is None:
        return None
    frame, moment = made
    siblings = [
        one
        for one in run.moved_names.values()
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


def name_given(frame: Frame, built: cst.Call) -> str | None:
    """The name that a call's result is given, and keeps, in a frame."""
    for name, statement in frame.bindings.items():
        if isinstance(statement, cst.Assign) and statement.value is built:
            return name if list(_targets(statement)) == [name] else None
    return None


def _targets(statement: cst.Assign) -> Iterator[str]:
    for target in statement.targets:
        yield target.target.value if isinstance(target.target, cst.Name) else ""


def _built_at(run: Run, moved: MovedName) -> int:
    made = run.made_in.get(moved.built)
    return moved.moment if made is None else made[1]

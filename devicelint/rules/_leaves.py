"""How a leaf tensor comes to be created where it is needed."""

from __future__ import annotations

import libcst as cst

from devicelint.fixes import Change, Replace, Rewrite
from devicelint.interpreter.scene import Scene


def create_on_device(scene: Scene, move: cst.CSTNode) -> Rewrite | None:
    """`nn.Parameter(t).to(d)` → `nn.Parameter(t.to(d))`; `t.requires_grad_().to(d)` likewise."""
    if not (isinstance(move, cst.Call) and isinstance(move.func, cst.Attribute)):
        return None
    inner = move.func.value
    if not isinstance(inner, cst.Call):
        return None
    transfer = scene.code(move)[len(scene.code(inner)) :]
    changed = _moved_first(scene, inner, transfer)
    if changed is None:
        return None
    change: Change = Replace(move, changed)
    return Rewrite("Move the data before it becomes a leaf", (change,))


def _moved_first(scene: Scene, inner: cst.Call, transfer: str) -> str | None:
    if isinstance(inner.func, cst.Attribute) and inner.func.attr.value == "requires_grad_":
        tensor = scene.code(inner.func.value)
        return f"{tensor}{transfer}{scene.code(inner)[len(tensor) :]}"
    if scene.creates_parameter(inner) and inner.args and inner.args[0].keyword is None:
        data = inner.args[0].value
        if not isinstance(data, (cst.Call, cst.Name, cst.Attribute, cst.Subscript)):
            return None
        whole, part = scene.code(inner), scene.code(data)
        start = whole.index(part, len(scene.code(inner.func)))
        return f"{whole[: start + len(part)]}{transfer}{whole[start + len(part) :]}"
    return None

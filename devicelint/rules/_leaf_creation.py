"""How a leaf tensor comes to be created where it is needed."""

from __future__ import annotations

import libcst as cst

from devicelint.fixes import Change, Replace, Rewrite
from devicelint.interpreter.suggestions.context import RuleContext


def create_on_device(
    context: RuleContext, move: cst.CSTNode, *, is_parameter: bool
) -> Rewrite | None:
    """Move the data first, and make the leaf of what is moved.

    `nn.Parameter(t).to(d)` → `nn.Parameter(t.to(d))`; `t.requires_grad_().to(d)` likewise;
    `torch.zeros(3, requires_grad=True).to(d)` → `torch.zeros(3, requires_grad=True, device=d)`.
    """
    if not (isinstance(move, cst.Call) and isinstance(move.func, cst.Attribute)):
        return None
    inner = move.func.value
    transfer = context.code(move)[len(context.code(inner)) :]
    if isinstance(inner, cst.Call):
        changed = _moved_first(context, inner, transfer) or _created_there(context, inner, move)
    else:
        changed = _leaf_of_copy(context, inner, transfer, is_parameter=is_parameter)
    if changed is None:
        return None
    change: Change = Replace(move, changed)
    return Rewrite("Move the data before it becomes a leaf", (change,))


def _moved_first(context: RuleContext, inner: cst.Call, transfer: str) -> str | None:
    if isinstance(inner.func, cst.Attribute) and inner.func.attr.value == "requires_grad_":
        tensor = context.code(inner.func.value)
        return f"{tensor}{transfer}{context.code(inner)[len(tensor) :]}"
    if context.names.creates_parameter(inner) and inner.args and inner.args[0].keyword is None:
        data = inner.args[0].value
        if not isinstance(data, (cst.Call, cst.Name, cst.Attribute, cst.Subscript)):
            return None
        whole, part = context.code(inner), context.code(data)
        start = whole.index(part, len(context.code(inner.func)))
        return f"{whole[: start + len(part)]}{transfer}{whole[start + len(part) :]}"
    return None


def _created_there(context: RuleContext, inner: cst.Call, move: cst.Call) -> str | None:
    """A factory that is asked for a leaf can be asked for it on the device."""
    assert isinstance(move.func, cst.Attribute)
    keywords = {one.keyword.value for one in inner.args if one.keyword is not None}
    if (
        "requires_grad" not in keywords
        or "device" in keywords
        or context.names.creates_parameter(inner)
    ):
        return None
    device = _device(context, move, move.func.attr.value)
    if device is None:
        return None
    return f"{context.code(inner).removesuffix(')').rstrip().rstrip(',')}, device={device})"


def _device(context: RuleContext, move: cst.Call, method: str) -> str | None:
    if method == "to" and len(move.args) == 1:
        keyword = move.args[0].keyword
        return (
            context.code(move.args[0].value)
            if keyword is None or keyword.value == "device"
            else None
        )
    return f'"{method}"' if method in ("cuda", "cpu") and not move.args else None


def _leaf_of_copy(
    context: RuleContext, tensor: cst.BaseExpression, transfer: str, *, is_parameter: bool
) -> str | None:
    """A new leaf, of the data of the one that has a name."""
    if not isinstance(tensor, cst.Name):
        return None
    copy = f"{tensor.value}.detach(){transfer}"
    if not is_parameter:
        return f"{copy}.requires_grad_()"
    name = context.names.name_of("torch.nn.Parameter")
    return None if name is None else f"{name}({copy})"

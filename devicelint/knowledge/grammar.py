"""Reads the annotations of a stub file: the grammar of README.md, and nothing else."""

from __future__ import annotations

import ast
from dataclasses import replace

from devicelint.knowledge.signature import (
    CPU,
    DEVICE,
    Form,
    Parameter,
    Result,
    Role,
    Signature,
    Slot,
    TypeKind,
)

GROUPS = {"D": "D", "E": "E", "CPU": CPU}

_PLAIN_SLOTS = {
    "Tensor": Slot(Role.FREE),
    "Generator": Slot(Role.GENERATOR),
    "Size": Slot(Role.SIZE),
    "Data": Slot(Role.DATA),
    "Varies": Slot(Role.VARIES),
    "Buffer": Slot(Role.BUFFER),
    "Scalar": None,
    "Number": None,
    "Any": None,
}
_FLAGS = {"Adds": Role.ADDS, "Gives": Role.GIVES}
_PLAIN_RESULTS = {
    "Transfer": Form.TRANSFER,
    "Array": Form.ARRAY,
    "Host": Form.HOST,
    "Self": Form.SELF,
    "Any": Form.ANY,
}
_PLACED_RESULTS = {
    "Tensor": Form.TENSOR,
    "View": Form.VIEW,
    "Ranked": Form.RANKED,
    "ZeroDim": Form.ZERO_DIM,
    "Reduced": Form.REDUCED,
    "Loss": Form.LOSS,
}
_CREATED_RESULTS = {
    "New": Form.VIEW,
    "LikeNew": Form.TENSOR,
    "RankedNew": Form.RANKED,
    "ZeroDimNew": Form.ZERO_DIM,
}
"""Created on the `device` argument; without one, where `Signature.device_default` says."""


class GrammarError(ValueError):
    """An annotation that the grammar does not know; `line` counts from the start of the text."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.message = message


def signature(node: ast.FunctionDef, *, drop_self: bool = False) -> Signature:
    """The signature that one `def` of a stub states; a forward drops its `self`."""
    owns = None
    if drop_self:
        owns = _owned_group(node.args.args.pop(0).annotation)
    parameters = tuple(_parameters(node.args))
    if node.returns is None:
        raise GrammarError(node.lineno, f"{node.name} states no result")
    return Signature(node.name, parameters, result(node.returns), owns)


def _owned_group(annotation: ast.expr | None) -> str | None:
    if annotation is None:
        return None
    head, inner = _subscript(annotation)
    if head != "Owned" or inner is None:
        raise _unknown("annotation of self", annotation)
    return _group(inner)


def _parameters(arguments: ast.arguments) -> list[Parameter]:
    positional = [*arguments.posonlyargs, *arguments.args]
    required = len(positional) - len(arguments.defaults)
    defaults: list[ast.expr | None] = [*[None] * required, *arguments.defaults]
    found = [
        _parameter(a, TypeKind.POSITIONAL, d) for a, d in zip(positional, defaults, strict=True)
    ]
    if arguments.vararg is not None:
        found.append(_parameter(arguments.vararg, TypeKind.STAR, None))
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        found.append(_parameter(argument, TypeKind.KEYWORD, default))
    if arguments.kwarg is not None:
        found.append(_parameter(arguments.kwarg, TypeKind.DOUBLE_STAR, None))
    return found


def _parameter(argument: ast.arg, kind: TypeKind, default: ast.expr | None) -> Parameter:
    written = None if default is None else ast.unparse(default)
    if argument.annotation is None:
        return Parameter(argument.arg, kind, None, written)
    if isinstance(argument.annotation, ast.Name) and argument.annotation.id == "Device":
        group = GROUPS.get(written or "")
        return Parameter(argument.arg, kind, Slot(Role.DEVICE, group), written)
    return Parameter(argument.arg, kind, slot(argument.annotation), written)


def slot(node: ast.expr) -> Slot | None:
    """What an annotation asks of an argument's device; None: nothing."""
    if isinstance(node, ast.Name) and node.id in _PLAIN_SLOTS:
        return _PLAIN_SLOTS[node.id]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _excused(node)
    head, inner = _subscript(node)
    if inner is not None and head == "Tensor":
        return Slot(Role.OPERAND, _group(inner))
    if inner is not None and head == "Anywhere":
        return Slot(Role.FREE, _group(inner))
    if inner is not None and head == "Index":
        return Slot(Role.INDEX, _group(inner))
    if inner is not None and head in _FLAGS:
        return Slot(_FLAGS[head], brings=result(inner))
    if inner is not None and head == "Sequence":
        item = slot(inner)
        if item is not None:
            return replace(item, sequence=True)
    raise _unknown("parameter annotation", node)


def _excused(node: ast.BinOp) -> Slot:
    tensor = slot(node.left)
    also = node.right.id if isinstance(node.right, ast.Name) else ""
    if tensor is None or tensor.role is not Role.OPERAND or also not in ("Scalar", "Number"):
        raise _unknown("parameter annotation", node)
    return replace(tensor, scalar_excused=also == "Scalar", may_be_number=also == "Number")


def result(node: ast.expr) -> Result:
    """What a `-> annotation` says about the value of the call."""
    if isinstance(node, ast.Constant) and node.value is None:
        return Result(Form.NONE)
    if isinstance(node, ast.Name) and node.id in _PLAIN_RESULTS:
        return Result(_PLAIN_RESULTS[node.id])
    if isinstance(node, ast.Name) and node.id in _CREATED_RESULTS:
        return Result(_CREATED_RESULTS[node.id], DEVICE)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _reduced_or_tuple(node)
    head, inner = _subscript(node)
    if inner is None:
        raise _unknown("result", node)
    if head in _PLACED_RESULTS:
        return Result(_PLACED_RESULTS[head], _group(inner))
    if head == "NoGrad":
        return without_grad(result(inner))
    if head in ("tuple", "list"):
        return _collection(head, inner)
    raise _unknown("result", node)


def without_grad(stated: Result) -> Result:
    """The same result, into which no gradient flows."""
    items = tuple(without_grad(item) for item in stated.items)
    return replace(stated, no_grad=True, items=items)


def _reduced_or_tuple(node: ast.BinOp) -> Result:
    whole, along = result(node.left), result(node.right)
    if whole.form is not Form.REDUCED or along.form is not Form.TUPLE:
        raise _unknown("result", node)
    return replace(whole, items=along.items)


def _collection(head: str, inner: ast.expr) -> Result:
    parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
    last = parts[-1]
    if isinstance(last, ast.Constant) and last.value is Ellipsis:
        return Result(Form.LIST, items=(result(parts[0]),))
    form = Form.TUPLE if head == "tuple" else Form.LIST
    return Result(form, items=tuple(result(part) for part in parts))


def _subscript(node: ast.expr) -> tuple[str, ast.expr | None]:
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        return node.value.id, node.slice
    return "", None


def _group(node: ast.expr) -> str:
    if isinstance(node, ast.Name) and node.id in GROUPS:
        return GROUPS[node.id]
    raise _unknown("device group", node)


def _unknown(what: str, node: ast.expr) -> GrammarError:
    return GrammarError(node.lineno, f"unknown {what}: {ast.unparse(node)}")

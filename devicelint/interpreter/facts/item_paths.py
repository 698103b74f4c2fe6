"""Paths such as `x.parts[0]`, what an index says of a tensor, and in which order both are read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from devicelint.interpreter.engine.nodes import children, parameters_of


def item_path(node: cst.BaseExpression) -> str:
    """`x.parts[0]` of a name, an attribute or a plain item; empty for any other expression."""
    match node:
        case cst.Name(value=name):
            return name
        case cst.Attribute(value=owner, attr=cst.Name(value=name)):
            path = item_path(owner)
            return f"{path}.{name}" if path else ""
        case cst.Subscript(value=owner, slice=[cst.SubscriptElement(cst.Index(value=index))]):
            path, key = item_path(owner), _plain(index)
            return f"{path}[{key}]" if path and key else ""
        case _:
            return ""


def _plain(index: cst.BaseExpression) -> str:
    match index:
        case cst.Name(value=key) | cst.Integer(value=key):
            return key
        case cst.UnaryOperation(operator=cst.Minus(), expression=inner):
            key = _plain(inner)
            return f"-{key}" if key else ""
        case _:
            return ""


def root_of(path: str) -> str:
    """The name that a path begins with."""
    return path.partition(".")[0].partition("[")[0]


def begins_with_word(first: cst.BaseSlice) -> bool:
    """Whether an index is a name, a number or a key, and so may be one of a dict."""
    if isinstance(first, cst.Slice):
        return first.lower is not None
    assert isinstance(first, cst.Index)
    begin = first.value
    while not begin.lpar:
        if isinstance(begin, (cst.BinaryOperation, cst.Comparison, cst.BooleanOperation)):
            begin = begin.left
        elif isinstance(begin, (cst.Attribute, cst.Subscript)):
            begin = begin.value
        else:
            return not isinstance(begin, (cst.UnaryOperation, cst.Ellipsis, cst.List))
    return False


def is_whole(first: cst.BaseSlice) -> bool:
    """`:` or `...`."""
    if isinstance(first, cst.Slice):
        return first.lower is None and first.upper is None
    return isinstance(first, cst.Index) and isinstance(first.value, cst.Ellipsis)


def dimensions_asked(node: cst.Subscript) -> int:
    """How many dimensions an index asks for: `...` and `None` ask for none."""
    return sum(not _asks_for_none(one.slice) for one in node.slice)


def _asks_for_none(one: cst.BaseSlice) -> bool:
    match one:
        case cst.Index(value=cst.Ellipsis() | cst.Name("None")):
            return True
        case _:
            return False


def keeps_dimension(first: cst.BaseSlice) -> bool:
    """`...`, `1:` or `None`, where more follows."""
    return isinstance(first, cst.Slice) or _asks_for_none(first)


def counted_in(node: cst.Comparison) -> tuple[str, str]:
    """The path of which a comparison asks for so few dimensions, and how few: `x.dim() == 0`."""
    match node:
        case cst.Comparison(
            left=cst.Call(func=cst.Attribute(value=owner, attr=cst.Name("dim" | "ndimension")))
            | cst.Attribute(value=owner, attr=cst.Name("ndim"))
            | cst.Call(
                func=cst.Name("len"),
                args=[cst.Arg(value=cst.Attribute(value=owner, attr=cst.Name("shape")))],
            ),
            comparisons=[cst.ComparisonTarget(comparator=cst.Integer("0" | "1" as few))],
        ):
            return item_path(owner), few
        case _:
            return "", ""


@dataclass(frozen=True, eq=False)
class Rebound:
    """From here on, names stand for something else."""

    names: tuple[str, ...]


def in_reading_order(code: cst.CSTNode) -> Iterator[cst.CSTNode | Rebound]:
    """The nodes of a piece of code as they are written, and where names are bound again.

    Functions inside it come last: their parameters are others of the same names.
    """
    waiting: list[cst.CSTNode | Rebound] = [code]
    inside: list[cst.FunctionDef | cst.Lambda] = []
    while waiting or inside:
        if not waiting:
            function = inside.pop(0)
            waiting = [
                function.body,
                Rebound(tuple(one.name.value for one in parameters_of(function))),
            ]
        one = waiting.pop()
        yield one
        if type(one) is cst.Name:
            continue
        if type(one) is cst.FunctionDef or type(one) is cst.Lambda:
            inside.append(one)
            continue
        if type(one) is cst.For:
            rest = [one.body] if one.orelse is None else [one.body, one.orelse]
            waiting.extend(reversed([one.iter, _bound(one.target), *rest]))
        elif type(one) is cst.Assign:
            waiting += (_bound(one.targets[0].target), *reversed(children(one)))
        elif type(one) is cst.AnnAssign and one.value is not None:
            waiting += (_bound(one.target), *reversed(children(one)))
        elif not isinstance(one, Rebound):
            waiting.extend(reversed(children(one)))


def _bound(target: cst.BaseExpression) -> Rebound:
    elements = target.elements if isinstance(target, (cst.Tuple, cst.List)) else ()
    values = [one.value for one in elements] or [target]
    return Rebound(tuple(root for one in values if (root := root_of(item_path(one)))))

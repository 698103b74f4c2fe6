"""Paths such as `x.parts[0]`, and what an index says of the tensor that it is taken of."""

from __future__ import annotations

import libcst as cst


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


def keeps_dimension(first: cst.BaseSlice) -> bool:
    """`...`, `1:` or `None`, where more follows."""
    if isinstance(first, cst.Slice):
        return True
    assert isinstance(first, cst.Index)
    is_new = isinstance(first.value, cst.Name) and first.value.value == "None"
    return is_new or isinstance(first.value, cst.Ellipsis)

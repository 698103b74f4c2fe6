"""How a device is written where something is created on it, and whether that can be said again."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devicelint.domain.history import Site
from devicelint.interpreter.engine.nodes import descendants

_OF_CHOICES = (
    cst.Attribute,
    cst.BaseBooleanOp,
    cst.BaseString,
    cst.BooleanOperation,
    cst.IfExp,
    cst.Index,
    cst.Integer,
    cst.Name,
    cst.Not,
    cst.Subscript,
    cst.SubscriptElement,
    cst.UnaryOperation,
)


def device_of_creation(made: Site) -> cst.BaseExpression | None:
    """What a call is given as `device=`."""
    given = made.args if isinstance(made, cst.Call) else ()
    return next((one.value for one in given if one.keyword and one.keyword.value == "device"), None)


def is_choice(node: cst.BaseExpression) -> bool:
    """`"cuda" if torch.cuda.is_available() else "cpu"`, `settings["device"]`: the same anywhere."""
    if not isinstance(node, (cst.IfExp, cst.Subscript)):
        return False
    return all(
        isinstance(one, _OF_CHOICES) or (isinstance(one, cst.Call) and not one.args)
        for one in descendants(node)
    )


def roots(node: cst.CSTNode) -> Iterator[str]:
    """The names that an expression reads; of `a.b.c` the first."""
    if isinstance(node, cst.Name):
        yield node.value
    elif isinstance(node, (cst.Attribute, cst.Arg)):
        yield from roots(node.value)
    else:
        for child in node.children:
            yield from roots(child)


def root(node: cst.BaseExpression) -> str:
    """The name that an expression such as `a.b.c` starts with."""
    while isinstance(node, cst.Attribute):
        node = node.value
    return node.value if isinstance(node, cst.Name) else ""


def names_variable(move: cst.Call) -> bool:
    """Whether a move names a variable, and no accelerator itself."""
    return any(isinstance(one.value, (cst.Name, cst.Attribute)) for one in move.args)

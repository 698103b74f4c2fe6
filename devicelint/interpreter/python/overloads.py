"""Operators that a class of the file defines by methods: `__matmul__`, `__radd__`, `__neg__`."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.history import Site
from devicelint.domain.values import Function, Instance, Module, Value
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.objects import member_of
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.python.functions import call_function

_ARITHMETIC = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "truediv",
    "//": "floordiv",
    "%": "mod",
    "**": "pow",
    "@": "matmul",
    "&": "and",
    "|": "or",
    "^": "xor",
    "<<": "lshift",
    ">>": "rshift",
}
_COMPARISONS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_MIRRORED = {"==": "eq", "!=": "ne", "<": "gt", "<=": "ge", ">": "lt", ">=": "le"}
_UNARY = {cst.Minus: "neg", cst.Plus: "pos", cst.BitInvert: "invert"}


def binary(
    run: Run, node: cst.CSTNode, symbol: str, left: Argument, right: Argument
) -> Value | None:
    """What a class of the file makes of an operator: that of the left operand, else of the right.

    None where neither defines it.  `symbol` is `+=` for an augmented assignment.
    """
    plain = symbol.removesuffix("=") if symbol not in _COMPARISONS else symbol
    stem = _ARITHMETIC.get(plain) or _COMPARISONS.get(symbol)
    if stem is None:
        return None
    mirrored = _MIRRORED.get(symbol, f"r{stem}")
    ways = [(left, right, stem), (right, left, mirrored)]
    if plain != symbol:
        ways.insert(0, (left, right, f"i{stem}"))
    for owner, other, name in ways:
        if (method := _method(run, owner.value, name)) is not None:
            site = node if isinstance(node, cst.BaseExpression) else right.site
            return _called(run, site, owner.value, method, other)
    return None


def unary(run: Run, node: cst.UnaryOperation, value: Value) -> Value | None:
    """What a class of the file makes of `-x`, `+x` and `~x`; None where it does not say."""
    name = _UNARY.get(type(node.operator))
    method = _method(run, value, name) if name is not None else None
    return None if method is None else _called(run, node, value, method)


def _method(run: Run, value: Value, name: str) -> Function | None:
    if not isinstance(value, (Instance, Module)):
        return None
    found = member_of(run, value.ref, f"__{name}__")
    return found if isinstance(found, Function) else None


def _called(run: Run, site: Site, owner: Value, method: Function, *given: Argument) -> Value:
    call = site if isinstance(site, cst.BaseExpression) else None
    module = owner if isinstance(owner, Module) else None
    return call_function(run, method, Arguments(list(given)), call, receiver=owner, module=module)

"""Methods that Python itself calls on objects of the file: `__iter__`, `__matmul__` and so on."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import libcst as cst

from devicelint.domain.history import Site
from devicelint.domain.values import (
    HOST,
    Bound,
    Const,
    Function,
    HostValue,
    Instance,
    ListOf,
    Module,
    Stream,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.objects import member_of
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import elements, enters, items, sets_item
from devicelint.interpreter.python.containers.contents import joined_elements, known_elements
from devicelint.interpreter.python.containers.subscripts import key_of
from devicelint.interpreter.python.functions import call_function


def call_special(run: Run, value: Instance | Module, name: str, *given: Value) -> Value:
    """What a method that Python itself calls gives, where the class has it."""
    method = _method(run, value, name)
    if method is None:
        return Unknown(f"{value.name} has no {name}")
    arguments = Arguments([Argument(method.node, one) for one in given])
    return call_function(run, method, arguments, None, receiver=value)


def iterated(run: Run, value: Value) -> Value:
    """What Python iterates over where it is given a value: for an object what `__iter__` gives."""
    if not isinstance(value, Instance) or known_elements(run, value) is not None:
        return value
    made = call_special(run, value, "__iter__")
    return made if isinstance(made, (Stream, ListOf, Tuple)) else value


@elements(Instance)
def _element_of_instance(run: Run, value: Instance, site: Site) -> Value:
    """What `__iter__` of a class of the file yields, or else `__getitem__` gives."""
    parts = known_elements(run, value)
    if parts is not None:
        return joined_elements(run, parts)
    made = call_special(run, value, "__iter__")
    if isinstance(made, Stream):
        return made.element
    if made == value:
        return call_special(run, value, "__next__")
    if isinstance(made, Unknown):
        return call_special(run, value, "__getitem__", HostValue(least=0))
    return Unknown(f"an element of {value.name}")


@items(Instance)
def _item_of_instance(run: Run, value: Instance, node: cst.Subscript) -> Value:
    key = key_of(run, node)
    parts = known_elements(run, value)
    if parts is not None:
        at = key.value if isinstance(key, Const) else None
        is_inside = isinstance(at, int) and -len(parts) <= at < len(parts)
        return parts[at] if isinstance(at, int) and is_inside else joined_elements(run, parts)
    return call_special(run, value, "__getitem__", HOST if key is None else key)


@sets_item(Instance)
def _set_item_of_instance(
    run: Run, owner: Instance, value: Value, target: cst.Subscript, site: cst.BaseExpression
) -> None:
    key = key_of(run, target)
    call_special(run, owner, "__setitem__", HOST if key is None else key, value)


@enters(Instance)
def _enter_instance(run: Run, value: Instance, item: cst.WithItem) -> AbstractContextManager[Value]:
    """An object of the file says itself what `with value as name` binds."""
    if item.asname is not None and isinstance(item.item, cst.Call):
        enter = member_of(run, value.ref, "__enter__")
        if enter is not None:
            return nullcontext(run.call(Bound(enter, value), Arguments(), item.item))
    return nullcontext(Unknown("entered by with"))


# -- operators -----------------------------------------------------------------------------------

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
_OBJECTS = (Instance, Module)
"""What has a class of the file, maybe."""
_UNARY = {cst.Minus: "neg", cst.Plus: "pos", cst.BitInvert: "invert"}


def overloaded(
    run: Run, node: cst.CSTNode, symbol: str, left: Argument, right: Argument
) -> Value | None:
    """What a class of the file makes of an operator: that of the left operand, else of the right.

    None where neither defines it.  `symbol` is `+=` for an augmented assignment.
    """
    if not isinstance(left.value, _OBJECTS) and not isinstance(right.value, _OBJECTS):
        return None
    plain = symbol.removesuffix("=") if symbol not in _COMPARISONS else symbol
    stem = _ARITHMETIC.get(plain) or _COMPARISONS.get(symbol)
    if stem is None:
        return None
    mirrored = _MIRRORED.get(symbol, f"r{stem}")
    ways = [(left, right, stem), (right, left, mirrored)]
    if plain != symbol:
        ways.insert(0, (left, right, f"i{stem}"))
    for owner, other, name in ways:
        if (method := _method(run, owner.value, f"__{name}__")) is not None:
            site = node if isinstance(node, cst.BaseExpression) else right.site
            return _called(run, site, owner.value, method, other)
    return None


def overloaded_unary(run: Run, node: cst.UnaryOperation, value: Value) -> Value | None:
    """What a class of the file makes of `-x`, `+x` and `~x`; None where it does not say."""
    name = _UNARY.get(type(node.operator))
    method = _method(run, value, f"__{name}__") if name is not None else None
    return None if method is None else _called(run, node, value, method)


def _method(run: Run, value: Value, name: str) -> Function | None:
    if not isinstance(value, _OBJECTS):
        return None
    found = member_of(run, value.ref, name)
    return found if isinstance(found, Function) else None


def _called(run: Run, site: Site, owner: Value, method: Function, *given: Argument) -> Value:
    call = site if isinstance(site, cst.BaseExpression) else None
    module = owner if isinstance(owner, Module) else None
    return call_function(run, method, Arguments(list(given)), call, receiver=owner, module=module)

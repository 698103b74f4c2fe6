"""Operators: arithmetic, comparison and augmented assignment."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import libcst as cst

from devicelint.domain.alternatives import is_mixed
from devicelint.domain.values import (
    ARRAY,
    HOST,
    Array,
    Const,
    DeviceHandle,
    DictOf,
    HostValue,
    ListOf,
    OneOf,
    Symbolic,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument
from devicelint.interpreter.engine.cases import each, use
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import evaluates, operates, operates_in_place
from devicelint.interpreter.facts.failures import fail
from devicelint.interpreter.python.containers.lists import extend_by
from devicelint.interpreter.python.containers.sequences import put_together
from devicelint.interpreter.python.containers.texts import numbered_device
from devicelint.interpreter.python.special_methods import overloaded
from devicelint.interpreter.python.stdlib.paths import interpolated, joined
from devicelint.interpreter.python.stdlib.paths import put_together as put_paths_together

_OPERATORS: dict[type[cst.CSTNode], str] = {
    cst.Add: "+",
    cst.Subtract: "-",
    cst.Multiply: "*",
    cst.Divide: "/",
    cst.FloorDivide: "//",
    cst.Modulo: "%",
    cst.Power: "**",
    cst.MatrixMultiply: "@",
    cst.BitAnd: "&",
    cst.BitOr: "|",
    cst.BitXor: "^",
    cst.LeftShift: "<<",
    cst.RightShift: ">>",
}


@evaluates(cst.BinaryOperation)
def binary_operation(run: Run, node: cst.BinaryOperation) -> Value:
    """Walks a long chain of operators without recursion: `a + b + c + …`."""
    chain = [node]
    while isinstance(chain[-1].left, cst.BinaryOperation):
        chain.append(chain[-1].left)
    value = run.evaluate(chain[-1].left)
    for link in reversed(chain):
        right = run.evaluate(link.right)
        value = _binary(run, link, value, right)
    return value


def _binary(run: Run, node: cst.BinaryOperation, left: Value, right: Value) -> Value:
    if isinstance(left, OneOf) and is_mixed(left):
        return each(run, left, lambda one: _binary(run, node, one, right))
    if isinstance(right, OneOf) and is_mixed(right):
        return each(run, right, lambda one: _binary(run, node, left, one))
    use(run, left)
    use(run, right)
    if isinstance(node.operator, cst.Modulo) and _is_text(left) and isinstance(right, Tuple):
        return interpolated(left, right.items)
    if isinstance(left, _HOST) and isinstance(right, _HOST):
        if isinstance(left, (ListOf, Tuple)) or isinstance(right, (ListOf, Tuple)):
            return put_together(run, node, left, right)
        _divide(run, node, left, right)
        return _host_arithmetic(node, left, right)
    if isinstance(left, Const) and isinstance(right, _OUTSIDE) and isinstance(left.value, str):
        return _text_with(run, node, left, right)
    if isinstance(left, _OUTSIDE) and _is_text(right) and isinstance(node.operator, _MAKE_PATHS):
        return _path_of(node, left, right)
    symbol = _OPERATORS.get(type(node.operator), "")
    return operate(run, node, symbol, Argument(node.left, left), Argument(node.right, right))


def operate(run: Run, node: cst.CSTNode, symbol: str, left: Argument, right: Argument) -> Value:
    """What the kind of an operand makes of an operator: that of the left one, else the right."""
    if isinstance(left.value, (Const, HostValue)) and isinstance(right.value, (Const, HostValue)):
        return HOST
    own = overloaded(run, node, symbol, left, right)
    if own is not None:
        return own
    handler = operates.get(type(left.value)) or operates.get(type(right.value))
    if handler is None:
        return Unknown(f"operands of {symbol} are not understood")
    return handler(run, node, symbol, left, right)


def _divide(run: Run, node: cst.BinaryOperation, left: Value, right: Value) -> None:
    """To divide by a number that is 0 here, as `device_count()` without an accelerator, raises."""
    is_nothing = isinstance(right, Const) and type(right.value) is int and right.value == 0
    if not (is_nothing and isinstance(node.operator, _DIVIDE)) or _is_text(left):
        return
    if isinstance(left, (Const, HostValue)) and not run.expects("ZeroDivisionError"):
        fail(run)


_DIVIDE = (cst.Divide, cst.FloorDivide, cst.Modulo)
_HOST = (Const, HostValue, Array, ListOf, Tuple, DeviceHandle)


def _host_arithmetic(node: cst.BinaryOperation, left: Value, right: Value) -> Value:
    if isinstance(left, Array) or isinstance(right, Array):
        return ARRAY
    if not isinstance(right, Const) and (named := numbered_device(left, node)) is not None:
        return named
    if isinstance(left, Const) and isinstance(right, Const):
        symbol = _OPERATORS.get(type(node.operator), "")
        return _text_of(node, left.value, right.value) or number_of(symbol, left, right)
    return _path_of(node, left, right)


_OUTSIDE = (Symbolic, Unknown)
_MAKE_PATHS = (cst.Add, cst.Divide)


def _is_text(value: Value) -> bool:
    """Whether a value is a text for sure: only a path, or another text, goes before it."""
    if isinstance(value, HostValue):
        return value.name is not None
    return isinstance(value, Const) and isinstance(value.value, str)


def _path_of(node: cst.BinaryOperation, left: Value, right: Value) -> HostValue:
    """`folder / name`, `folder + ".pt"` and `"%s.pt" % name`."""
    match node.operator:
        case cst.Divide():
            return joined((left, right))
        case cst.Modulo():
            return interpolated(left, (right,))
        case _:
            return put_paths_together((left, right))


def _text_of(node: cst.BinaryOperation, left: object, right: object) -> Const | None:
    """`"layer" + "1"` and `"layer%d" % 1`, spelled out."""
    if isinstance(node.operator, cst.Add) and isinstance(left, str) and isinstance(right, str):
        return Const(left + right)
    if not (isinstance(node.operator, cst.Modulo) and isinstance(left, str)):
        return None
    whole = left.replace("%d", "%s").replace("%i", "%s")
    is_one = whole.count("%") == whole.count("%s") == 1 and isinstance(right, (str, int))
    return Const(whole % right) if is_one else None


_LARGEST = 10**9
_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
}


def number_of(symbol: str, left: Value, right: Value) -> Value:
    """What comes of two numbers that are known."""
    compute = _ARITHMETIC.get(symbol)
    numbers = [one.value for one in (left, right) if isinstance(one, Const)]
    if compute is None or not all(isinstance(one, (int, float)) for one in numbers):
        return HOST
    if len(numbers) < 2 or (symbol in ("/", "//", "%") and numbers[1] == 0):
        return HOST
    result = compute(*numbers)
    return Const(result) if abs(result) < _LARGEST else HOST


def _text_with(run: Run, node: cst.BinaryOperation, text: Const, value: Value) -> Value:
    """`"cuda:" + str(args.gpu)` and `"cuda:%d" % args.gpu` name a device."""
    named = numbered_device(text, node)
    if named is None:
        return _path_of(node, text, value)
    run.steps.index_used(value)
    return named


def augmented(run: Run, node: cst.AugAssign, left: Argument, right: Argument) -> Value:
    """What `left += right` leaves in the left operand."""
    before, added = left.value, right.value
    use(run, before)
    use(run, added)
    symbol = _AUGMENTED.get(type(node.operator), "+=")
    if isinstance(before, ListOf) and symbol == "+=":
        extend_by(run, before, added, right.site)
        return before
    if isinstance(before, DictOf) and isinstance(added, DictOf):
        for name, held in tuple(run.state.fields(added.ref).items()):
            run.state.write(before.ref, name, held)
        return before
    own = overloaded(run, node, symbol, left, right)
    if own is not None:
        return own
    handler = operates_in_place.get(type(before))
    if handler is not None:
        return handler(run, node, symbol, left, right)
    if isinstance(before, _HOST) and isinstance(added, _HOST):
        is_array = isinstance(before, Array) or isinstance(added, Array)
        return ARRAY if is_array else number_of(symbol[:-1], before, added)
    return operate(run, node, symbol[:-1], left, right)


_AUGMENTED: dict[type[cst.CSTNode], str] = {
    cst.AddAssign: "+=",
    cst.SubtractAssign: "-=",
    cst.MultiplyAssign: "*=",
    cst.DivideAssign: "/=",
    cst.MatrixMultiplyAssign: "@=",
    cst.FloorDivideAssign: "//=",
    cst.ModuloAssign: "%=",
    cst.PowerAssign: "**=",
}

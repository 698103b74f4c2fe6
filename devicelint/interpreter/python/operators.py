"""Operators: arithmetic, comparison and augmented assignment."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.devices import CPU, DEVICE_TYPES, Known
from devicelint.domain.events import Operand
from devicelint.domain.history import Step, Verb
from devicelint.domain.values import (
    ARRAY,
    HOST,
    Array,
    Batch,
    Const,
    DeviceHandle,
    DictOf,
    HostValue,
    ListOf,
    Moved,
    Outside,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import evaluates
from devicelint.interpreter.python.containers import element_of, extend
from devicelint.interpreter.python.sequences import put_together
from devicelint.interpreter.torch.host_reads import read_on_host
from devicelint.interpreter.torch.operands import (
    common_device,
    computed,
    find_clash,
    grad_of_operands,
    operand_of,
    report_clash,
)
from devicelint.interpreter.torch.ranks import rank_of_operands

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
    if isinstance(left, _HOST) and isinstance(right, _HOST):
        if isinstance(left, (ListOf, Tuple)) or isinstance(right, (ListOf, Tuple)):
            return put_together(run, node, left, right)
        return _host_arithmetic(node, left, right)
    if isinstance(left, Const) and isinstance(right, Outside) and isinstance(left.value, str):
        return _text_with(run, node, left.value, right)
    symbol = _OPERATORS.get(type(node.operator), "")
    if isinstance(left, _TENSORS) and isinstance(right, Array) and _is_array(node.right):
        # numpy has its turn, and reads the tensor; what comes out is a tensor again.
        read_on_host(run, Argument(node.left, left), node, f"`{symbol}` with a numpy array")
        return Tensor(CPU, Step(Verb.CONVERTED, node, CPU), None, False)
    return operate(run, node, symbol, (node.left, left), (node.right, right))


def _is_array(node: cst.BaseExpression) -> bool:
    """Whether an array is written that is no number of numpy's: `x.numpy()`."""
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name("numpy"))):
            return True
        case cst.UnaryOperation() | cst.BinaryOperation():
            return any(isinstance(one, cst.Call) and _is_array(one) for one in node.children)
        case _:
            return False


_HOST = (Const, HostValue, Array, ListOf, Tuple, DeviceHandle)
_TENSORS = (Tensor, Batch, Moved)


def _host_arithmetic(node: cst.BinaryOperation, left: Value, right: Value) -> Value:
    if isinstance(left, Array) or isinstance(right, Array):
        return ARRAY
    if isinstance(left, Const) and left.value in ("cuda:", "xpu:") and not isinstance(right, Const):
        return DeviceHandle(Known(str(left.value)[:-1]), node, is_object=False)
    return HOST


def _text_with(run: Run, node: cst.BinaryOperation, text: str, value: Outside) -> Value:
    """`"cuda:" + str(args.gpu)` and `"cuda:%d" % args.gpu` name a device."""
    kind, colon, rest = text.partition(":")
    if not colon or kind not in DEVICE_TYPES or rest not in ("", "%d", "%s", "%i"):
        return HOST
    run.steps.index_used(value)
    return DeviceHandle(Known(kind), node, is_object=False)


def operate(run: Run, site: cst.CSTNode, symbol: str, *sides: tuple[cst.CSTNode, Value]) -> Value:
    """An elementwise operation, or a matrix product: operands share a device."""
    if not any(isinstance(value, (*_TENSORS, Outside)) for _, value in sides):
        return Unknown(f"operands of {symbol} are not understood")
    mixes = symbol != "@"
    operands = [(one, mixes) for place, value in sides if (one := operand_of(value, place))]
    if not any(isinstance(one.value, _TENSORS) for one, _ in operands):
        return Unknown(f"operands of {symbol} come from outside")
    pair = find_clash(operands)
    if pair is not None:
        report_clash(run, site, symbol, pair)
    unknown = any(isinstance(value, Unknown) for _, value in sides)
    return _result(site, [one for one, _ in operands], unknown, sides)


def _result(
    site: cst.CSTNode,
    operands: list[Operand],
    unknown: bool,
    sides: tuple[tuple[cst.CSTNode, Value], ...],
) -> Tensor:
    device, since = common_device(operands, unknown=unknown)
    rank_unknown = any(isinstance(value, Unknown) for _, value in sides)
    scalar = rank_of_operands(operands, unknown=rank_unknown)
    grad = grad_of_operands(operands, unknown=False)
    return Tensor(device, computed(site, device, since), scalar, grad)


def augmented(
    run: Run,
    node: cst.AugAssign,
    target: tuple[cst.CSTNode, Value],
    value: tuple[cst.CSTNode, Value],
) -> Value:
    """`a += b`: for a tensor in place, so that a 0-dim CPU tensor on the left is not excused."""
    before, added = target[1], value[1]
    symbol = _AUGMENTED.get(type(node.operator), "+=")
    if isinstance(before, ListOf) and symbol == "+=":
        extend(run, before.ref, element_of(run, added, value[0]))
        return before
    if isinstance(before, DictOf) and isinstance(added, DictOf):
        for name, held in tuple(run.state.fields(added.ref).items()):
            run.state.write(before.ref, name, held)
        return before
    if not isinstance(before, _TENSORS):
        return binary_values(run, node, symbol[:-1], target, value)
    left = operand_of(before, target[0])
    right = operand_of(added, value[0])
    assert left is not None
    if right is not None:
        pair = find_clash([(left, False), (right, True)])
        if pair is not None:
            report_clash(run, node, symbol, pair, in_place=True)
            return binary_values(run, node, symbol[:-1], target, value, quiet=True)
    if isinstance(before, Tensor) and isinstance(added, Tensor) and added.grad:
        return Tensor(before.device, before.since, before.scalar, True, before.role)
    return before


def binary_values(
    run: Run,
    node: cst.CSTNode,
    symbol: str,
    left: tuple[cst.CSTNode, Value],
    right: tuple[cst.CSTNode, Value],
    *,
    quiet: bool = False,
) -> Value:
    """The value of `left symbol right`, where the operator is no node of its own."""
    if isinstance(left[1], _HOST) and isinstance(right[1], _HOST):
        return ARRAY if isinstance(left[1], Array) or isinstance(right[1], Array) else HOST
    if quiet:
        operands = [one for place, value in (left, right) if (one := operand_of(value, place))]
        return _result(node, operands, False, (left, right))
    return operate(run, node, symbol, left, right)


_AUGMENTED: dict[type[cst.CSTNode], str] = {
    cst.AddAssign: "+=",
    cst.SubtractAssign: "-=",
    cst.MultiplyAssign: "*=",
    cst.DivideAssign: "/=",
    cst.MatrixMultiplyAssign: "@=",
}

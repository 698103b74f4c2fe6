"""Operators on tensors: their operands share a device."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devicelint.domain.devices import CPU, NOT_UNDERSTOOD
from devicelint.domain.events import Operand
from devicelint.domain.history import Step, Verb
from devicelint.domain.values import (
    Array,
    Batch,
    Placed,
    Symbolic,
    Tensor,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import operates, operates_in_place
from devicelint.interpreter.python.unseen import computed_of_unseen, taken_for_tensor
from devicelint.interpreter.torch.host_reads import read_on_host
from devicelint.interpreter.torch.operations.hard_coded import note_met
from devicelint.interpreter.torch.operations.kept import note_kept
from devicelint.interpreter.torch.operations.meetings import note_meeting
from devicelint.interpreter.torch.operations.operands import (
    common_device,
    computed,
    find_clash,
    grad_of_operands,
    operand_of,
)
from devicelint.interpreter.torch.operations.reports import report_clash
from devicelint.interpreter.torch.processes.ranks import least_of_operands, rank_of_operands


@operates(Tensor, Batch, Placed, Symbolic)
def operate_on_tensors(
    run: Run, node: cst.CSTNode, symbol: str, left: Argument, right: Argument
) -> Value:
    """An operator with a tensor, or what may be one, on either side."""
    if (
        isinstance(node, cst.BinaryOperation)
        and isinstance(left.value, _TENSORS)
        and isinstance(right.value, Array)
        and _is_array(node.right)
    ):
        # numpy has its turn, and reads the tensor; what comes out is a tensor again.
        read_on_host(run, left, node, f"`{symbol}` with a numpy array")
        return Tensor(CPU, Step(Verb.CONVERTED, node, CPU), None, False)
    if symbol == "@":
        left, right = (
            one._replace(value=taken_for_tensor(run, one.value)) for one in (left, right)
        )
    return _operate(run, node, symbol, left, right)


def _is_array(node: cst.BaseExpression) -> bool:
    """Whether an array is written that is no number of numpy's: `x.numpy()`."""
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name("numpy"))):
            return True
        case cst.UnaryOperation() | cst.BinaryOperation():
            return any(isinstance(one, cst.Call) and _is_array(one) for one in node.children)
        case _:
            return False


def _operate(run: Run, site: cst.CSTNode, symbol: str, *sides: Argument) -> Value:
    """An elementwise operation, or a matrix product: operands share a device."""
    if not any(isinstance(value, (*_TENSORS, Symbolic)) for _, value in sides):
        return Unknown(f"operands of {symbol} are not understood")
    mixes = symbol != "@"
    operands = [(one, mixes) for place, value in sides if (one := operand_of(value, place))]
    if not any(isinstance(one.value, _TENSORS) for one, _ in operands):
        return computed_of_unseen(run, site, symbol, *sides)
    pair = find_clash(operands)
    if pair is not None:
        report_clash(run, site, symbol, pair)
    else:
        note_met(run, site, f"`{symbol}`", [one for one, _ in operands])
        note_kept(run, site, symbol, [one for one, _ in operands])
        note_meeting(run, site, operands)
    unknown = any(isinstance(value, Unknown) for _, value in sides)
    return _result(site, [one for one, _ in operands], unknown, sides)


def _result(
    site: cst.CSTNode,
    operands: list[Operand],
    unknown: bool,
    sides: tuple[Argument, ...],
) -> Tensor:
    device, since = common_device(operands, unknown=unknown)
    if device is NOT_UNDERSTOOD and since is None:
        symbols = (one.value.symbol for one in sides if isinstance(one.value, Unknown))
        since = next(filter(None, symbols), None)
        device = device if since is None else since.device
    rank_unknown = any(isinstance(value, Unknown) for _, value in sides)
    scalar = rank_of_operands(operands, unknown=rank_unknown)
    grad = grad_of_operands(operands, unknown=False)
    made = Tensor(device, computed(site, device, since), scalar, grad)
    least = 0 if _is_product(site) else least_of_operands(operands)
    return replace(made, least=least) if least > 1 else made


def _is_product(site: cst.CSTNode) -> bool:
    """Whether an operator is `@`, which takes dimensions away."""
    return isinstance(
        getattr(site, "operator", None), (cst.MatrixMultiply, cst.MatrixMultiplyAssign)
    )


_TENSORS = (Tensor, Batch, Placed)


@operates_in_place(Tensor, Batch, Placed)
def operate_in_place(
    run: Run, node: cst.AugAssign, symbol: str, target: Argument, value: Argument
) -> Value:
    """`a += b`: a 0-dim CPU tensor on the left is not excused."""
    before, added = target.value, value.value
    left, right = operand_of(before, target.site), operand_of(added, value.site)
    assert left is not None
    if right is not None:
        pair = find_clash([(left, False), (right, True)])
        if pair is not None:
            report_clash(run, node, symbol, pair, in_place=True)
            return _result(node, [left, right], False, (target, value))
        note_met(run, node, f"`{symbol}`", (left, right))
    if isinstance(before, Tensor) and isinstance(added, Tensor) and added.grad:
        return Tensor(before.device, before.since, before.scalar, True, before.role)
    return before

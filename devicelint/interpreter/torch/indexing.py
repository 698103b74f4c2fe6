"""Indexing a tensor, and assigning to an index.

A CPU index into an accelerator tensor works; reading a CPU tensor with an accelerator's index does
not, and neither does assigning across devices through an index tensor or a mask.  The index of an
assignment is brought to the tensor, wherever it lies.
"""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devicelint.domain.devices import CPU, DeviceOf, agreement
from devicelint.domain.events import Operand
from devicelint.domain.values import (
    Array,
    Batch,
    Const,
    HostValue,
    ListOf,
    Placed,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.nodes import descendants
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import items, sets_item, tensor_method
from devicelint.interpreter.facts.mentions import called_method, path_of
from devicelint.interpreter.facts.tensor_parameters import rank_of_part
from devicelint.interpreter.python.containers.subscripts import key_of
from devicelint.interpreter.torch.operations.excuses import DIFFERENT
from devicelint.interpreter.torch.operations.hard_coded import note_met
from devicelint.interpreter.torch.operations.operands import operand_of
from devicelint.interpreter.torch.operations.reports import report_clash
from devicelint.interpreter.torch.processes.ranks import number_of_dimensions


@items(Batch)
def _item_of_batch(run: Run, value: Batch, node: cst.Subscript) -> Value:
    """A part of a batch that is a dict, say; of one that is a tensor, a tensor."""
    if not value.whole:
        return index_tensor(run, value, node)
    key = key_of(run, node)
    named = str(key.value) if isinstance(key, Const) else ""
    return replace(value, since=replace(value.since, part=named), whole=False)


@items(Tensor, Placed)
def index_tensor(run: Run, value: Tensor | Placed | Batch, node: cst.Subscript) -> Value:
    """`tensor[…]`: a tensor on the same device."""
    indices = _check_indices(run, node, value)
    keeps_rank = any(map(_keeps_dimension, indices))
    is_number = isinstance(value, Tensor) and value.scalar and isinstance(indices[0], Const)
    if is_number:
        return Unknown("an element of a 0-dim tensor")
    scalar = False if keeps_rank and not isinstance(value, Placed) else None
    if not isinstance(value, Tensor):
        return Tensor(value.device, value.since, scalar)
    least = _left_by(indices, value.least)
    if not keeps_rank and len(indices) == 1:
        scalar = rank_of_part(run, value, node.value)
    elif value.scalar is not False:
        scalar = None
    scalar = False if least else scalar
    return Tensor(value.device, value.since, scalar, value.grad, least=least if least > 1 else 0)


def _left_by(indices: list[Value | None], dimensions: int) -> int:
    """How many of so many dimensions are left at least: a slice leaves its own, a number none.

    `...` stands for the dimensions that no other index names, and leaves them all.
    """
    left = dimensions
    for index in indices:
        if index == Const(None):
            left += 1
        elif isinstance(index, (Const, HostValue)):
            left -= index != Const(Ellipsis)
        elif index is not None:
            return 0
    return max(0, left)


def _check_indices(
    run: Run, node: cst.Subscript, value: Tensor | Placed | Batch
) -> list[Value | None]:
    """Report an index on another device; what the indices are, with None for a slice."""
    indices: list[Value | None] = []
    base = operand_of(value, node.value)
    assert base is not None
    for element in node.slice:
        part = element.slice
        if isinstance(part, cst.Slice):
            indices.append(None)
            for bound in (part.lower, part.upper, part.step):
                if bound is not None:
                    run.evaluate(bound)
            continue
        assert isinstance(part, cst.Index)
        index = run.evaluate(part.value)
        indices.extend(index.items if isinstance(index, Tuple) else (index,))
        operand = operand_of(index, part.value)
        if operand is not None:
            _check_index(run, node, base, operand)
    return indices


def _keeps_dimension(index: Value | None) -> bool:
    """Whether what is taken has a dimension for this index: a slice, a new one, one of many."""
    if index is None or index == Const(None) or isinstance(index, (ListOf, Array)):
        return True
    return _is_at_least_1d(index)


def _is_at_least_1d(value: Value) -> bool:
    """What was moved and is an index is one of many: nobody moves a number to look it up."""
    if isinstance(value, (Batch, Placed)):
        return True
    return isinstance(value, Tensor) and value.scalar is False


def _check_index(run: Run, node: cst.Subscript, base: Operand, index: Operand) -> None:
    """A tensor on the CPU takes only an index on the CPU; a 0-dim integer becomes a number."""
    if isinstance(base.device, DeviceOf) and _is_at_least_1d(index.value):
        note_met(run, node, "indexing", (base, index))
    if base.device != CPU or not _is_at_least_1d(index.value):
        return
    if agreement(base.device, index.device) in DIFFERENT:
        report_clash(run, node, "indexing", (base, index), index=True)


@sets_item(Batch)
def _set_in_batch(
    run: Run, owner: Batch, value: Value, target: cst.Subscript, site: cst.BaseExpression
) -> None:
    if not owner.whole or _is_of_a_tensor(target):
        _set_in_tensor(run, owner, value, target, site)
        return
    key_of(run, target)
    if isinstance(target.value, cst.Name):
        changed = Unknown("a batch of which one item was replaced")
        run.bind(target.value.value, changed, target)


def _is_of_a_tensor(target: cst.Subscript) -> bool:
    """`batch[:, 2:]`: only a tensor is sliced in several dimensions."""
    return len(target.slice) > 1 and any(isinstance(one.slice, cst.Slice) for one in target.slice)


@sets_item(Tensor, Placed)
def _set_in_tensor(
    run: Run,
    owner: Tensor | Placed | Batch,
    value: Value,
    target: cst.Subscript,
    site: cst.BaseExpression,
) -> None:
    _assign_item(run, target, owner, operand_of(value, site))


def _assign_item(
    run: Run, node: cst.Subscript, base: Tensor | Placed | Batch, value: Operand | None
) -> None:
    """`tensor[…] = value`: a basic index copies across devices, an index tensor does not."""
    target = operand_of(base, node.value)
    assert target is not None
    advanced = False
    for element in node.slice:
        part = element.slice
        if not isinstance(part, cst.Index):
            continue
        index = run.evaluate(part.value)
        operand = operand_of(index, part.value)
        if (operand is not None and _is_at_least_1d(index)) or isinstance(index, (ListOf, Array)):
            advanced = True
    if value is None or not advanced or isinstance(value.value, HostValue):
        return
    if isinstance(value.value, Tensor) and value.value.scalar is not False:
        return
    if agreement(target.device, value.device) in DIFFERENT:
        stays = value.device == CPU or _is_read_back(run, node.value)
        pair = (value, target) if stays else (target, value)
        report_clash(run, node, "index assignment", pair, in_place=True)


def _is_read_back(run: Run, storage: cst.BaseExpression) -> bool:
    """Whether what is taken out of a storage is moved each time: it is to stay where it is."""
    name = path_of(storage)
    return any(
        isinstance(part, cst.Subscript) and path_of(part.value) == name
        for call in descendants(run.program.tree)
        if called_method(call) in ("to", "cuda")
        for part in descendants(call)
    )


@tensor_method("dim", "ndimension")
def _dim(run: Run, receiver: Value, name: str, arguments: Arguments, node: cst.Call) -> Value:
    return number_of_dimensions(receiver)

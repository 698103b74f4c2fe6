"""Whether the result of a call is 0-dim, so far as the code tells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

import libcst as cst

from devicelint.domain.events import Operand
from devicelint.domain.history import Site
from devicelint.domain.values import (
    HOST,
    Batch,
    Const,
    HostValue,
    ImportedName,
    ListOf,
    Stream,
    Symbolic,
    Tensor,
    Tuple,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.python.containers.contents import item
from devicelint.interpreter.torch.operations.application import Application
from devicelint.knowledge import Form, Result, Role, Signature

_MOST = 6
"""More dimensions are not counted: a loop or a recursion may add one at each turn."""

_CHANGED: Final = {
    **dict.fromkeys(("unsqueeze", "stack", "pad_sequence", "pad_packed_sequence"), 1),
    **dict.fromkeys(("chunk", "split", "split_with_sizes", "tensor_split", "narrow", "cat"), 0),
    **dict.fromkeys(("concat", "index_select", "masked_fill", "masked_scatter", "topk", "sort"), 0),
    **dict.fromkeys(("unbind", "pack_padded_sequence"), -1),
}
"""How many dimensions a result has more than what is given, of operations that are sure of it."""


def dimensions_left(signature: Signature, arguments: Arguments) -> int:
    """How many dimensions there are for sure, beside those that are named and taken away."""
    names = signature.names(len(arguments.positional), tuple(arguments.keywords))
    first = arguments.positional[0].value if arguments.positional else None
    given = _least_of(first) if first is not None else 0
    left = 0
    for name, argument in zip(names, arguments, strict=False):
        if name == "keepdim" and argument.value == Const(True):
            return 0 if isinstance(first, Tensor) and first.scalar else max(1, given)
        if name == "dim":
            left = _left_by(argument.value, given)
    return left


def _left_by(dim: Value, given: int) -> int:
    dimensions = dim.items if isinstance(dim, Tuple) else (dim,)
    known = [d.value for d in dimensions if isinstance(d, Const) and type(d.value) is int]
    if not known or len(known) < len(dimensions):
        return 0
    # The third dimension is the last of three, at least; so is the third from the end.
    named = max(max(known) + 1, -min(known))
    return max(0, max(given, named) - len(known))


def dimension_given(signature: Signature, arguments: Arguments) -> Value | None:
    """What stands where `max` takes a dimension, or another tensor; None: nothing, or no such one.

    It is two functions in one: the larger of two tensors, or the largest along a dimension.
    """
    if not (signature.result.form is Form.REDUCED and signature.result.items):
        return None
    slots = signature.slots(len(arguments.positional), tuple(arguments.keywords))
    names = signature.names(len(arguments.positional), tuple(arguments.keywords))
    for name, slot, argument in zip(names, slots, arguments, strict=False):
        if name in _OTHER_OR_DIMENSION and slot is not None and slot.role is Role.OPERAND:
            return argument.value
    return None


_OTHER_OR_DIMENSION = ("dim", "other")


def elementwise(result: Result) -> Result:
    """The result for two tensors, given that along a dimension."""
    first = result.items[0] if result.items else result
    return replace(first, form=Form.TENSOR)


def is_a_matrix(arguments: Arguments) -> bool:
    """Whether the first operand has two dimensions or more."""
    first = arguments.positional[0].value if arguments.positional else None
    return isinstance(first, Tensor) and first.is_matrix


def take_size(run: Run, application: Application, size: Argument, *, is_part: bool) -> None:
    """Take in what an argument says of the dimensions of what is created.

    It is the whole size, or one of several numbers.  Of more than one that may be the whole, as in
    `randint(high, size)` and `randint(low, high, size)`, the last one is.
    """
    if _may_be_empty(run, size.value):
        return
    application.rank = True if size.value == Tuple(()) else application.rank or False
    before = application.dimensions if is_part else 0
    application.dimensions = before + _dimensions_of(size)


def _dimensions_of(size: Argument) -> int:
    """How many dimensions, at least, a size names: `(2, n)` names two, and `n` one."""
    if isinstance(size.value, Tuple):
        return len(size.value.items)
    return max(1, _written_out(size.site))


def _may_be_empty(run: Run, size: Value) -> bool:
    """Whether a size is a parameter that is an empty one where nobody gives another."""
    since = size.since if isinstance(size, Symbolic) else None
    match getattr(since.site, "default", None) if since is not None else None:
        case cst.Tuple(elements=[]) | cst.List(elements=[]):
            return True
        case (
            cst.Call(
                args=[] | [cst.Arg(value=cst.Tuple(elements=[]) | cst.List(elements=[]))]
            ) as call
        ):
            with run.muted():
                return run.evaluate(call.func) == ImportedName("torch.Size")
        case _:
            return False


def _written_out(size: Site) -> int:
    match size:
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            return sum(isinstance(element, cst.Element) for element in elements)
        case cst.BinaryOperation(operator=cst.Add()):
            return _written_out(size.left) + _written_out(size.right)
        case _:
            return 0


def rank_of(application: Application, result: Result) -> bool | None:
    """Whether the result is 0-dim."""
    rank = _rank_by_form(application, result)
    return False if rank is None and least_of(application, result) else rank


def dimensions_of(run: Run, application: Application, result: Result) -> int:
    """How many dimensions the result has at least."""
    return max(least_of(application, result), _dimensions_of_data(run, application.data))


def least_of(application: Application, result: Result) -> int:
    """How many dimensions the result has at least: by the sizes, else by its operands."""
    if application.dimensions or application.rank is not None:
        return application.dimensions
    change = 0 if result.form is Form.TENSOR else _CHANGED.get(application.signature.name)
    if change is None or result.form not in (Form.TENSOR, Form.VIEW, Form.RANKED):
        return application.left
    own = result.group or ""
    key = own if own in application.groups else application.signature.device_default or ""
    group = application.groups.get(key)
    most = least_of_operands(group.plain) if group is not None else 0
    return max(application.left, min(_MOST, most + change) if most else 0)


def _dimensions_of_data(run: Run, data: Value | None) -> int:
    """How many dimensions what is made of numbers has: as many as the lists are deep."""
    first: Value | None
    match data:
        case ListOf():
            first = item(run, data.ref, Const(0))
        case Tuple(items):
            first = next(iter(items), None)
        case Stream(element):
            first = element
        case _:
            return 0 if data is None else _least_of(data)
    return min(_MOST, 1 + _dimensions_of_data(run, first))


def least_of_operands(operands: Iterable[Operand]) -> int:
    """How many dimensions what comes of these elementwise has at least."""
    return max((_least_of(one.value) for one in operands), default=0)


def _least_of(value: Value) -> int:
    if isinstance(value, Tensor):
        return value.least or int(value.scalar is False)
    return int(isinstance(value, Batch))


def _rank_by_form(application: Application, result: Result) -> bool | None:
    match result.form:
        case Form.RANKED:
            return False
        case Form.ZERO_DIM:
            return True
        case Form.TENSOR:
            if application.data is not None:
                return _rank_of_data(application.data)
            if application.rank is not None:
                return application.rank
            group = application.groups.get(result.group or "")
            if group is None:
                return None
            return rank_of_operands(group.plain, unknown=group.unknown)
        case Form.VIEW:
            if application.data is not None:
                return _rank_of_data(application.data)
            return application.rank
        case _:
            return None


def _rank_of_data(data: Value) -> bool | None:
    match data:
        case Const(value):
            return isinstance(value, (int, float)) or None
        case ListOf() | Tuple() | Stream():
            return False
        case Tensor():
            return data.scalar
        case _:
            return None


def rank_of_created(application: Application, result: Result) -> bool | None:
    """The rank by the sizes; else that of the tensor like which one is created."""
    rank = rank_of(application, result)
    follows = application.signature.device_default
    is_like = application.device is None and application.data is None
    if rank is not None or follows is None or not is_like:
        return rank
    group = application.group(follows)
    return rank_of_operands(group.plain, unknown=group.unknown)


def rank_of_operands(operands: Sequence[Operand], *, unknown: bool) -> bool | None:
    """Whether all operands are 0-dim: the result of an elementwise operation is then, too."""
    ranks = [_rank_of_operand(operand.value) for operand in operands]
    if False in ranks:
        return False
    return None if None in ranks or unknown or not ranks else True


def number_of_dimensions(value: Value) -> Value:
    """`x.dim()`: a number, or what is known of it."""
    if not isinstance(value, Tensor) or value.scalar is None:
        return HostValue(least=value.least) if isinstance(value, Tensor) and value.least else HOST
    return Const(0) if value.scalar else HostValue(least=max(1, value.least))


def _rank_of_operand(value: Value) -> bool | None:
    if isinstance(value, Batch):
        return False
    return value.scalar if isinstance(value, Tensor) else None

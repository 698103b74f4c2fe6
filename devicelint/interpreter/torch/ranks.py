"""Whether the result of a call is 0-dim, so far as the code tells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import libcst as cst

from devicelint.domain.events import Operand
from devicelint.domain.history import Site
from devicelint.domain.values import (
    HOST,
    Array,
    Batch,
    Const,
    HostValue,
    ListOf,
    Stream,
    Tensor,
    Tuple,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.torch.operations.application import Application
from devicelint.knowledge import Form, Result, Signature


def keeps_dimension(signature: Signature, arguments: Arguments) -> bool:
    """Whether the dimensions that are named tell that there are more than are taken away."""
    names = signature.names(len(arguments.positional), tuple(arguments.keywords))
    for name, argument in zip(names, arguments, strict=False):
        if name == "keepdim" and argument.value == Const(True):
            return True
        if name == "dim":
            value = argument.value
            dimensions = value.items if isinstance(value, Tuple) else (value,)
            known = [d.value for d in dimensions if isinstance(d, Const) and type(d.value) is int]
            if len(known) == len(dimensions) > 0 and max(known) >= len(known) and min(known) >= 0:
                return True
            if len(known) == 1 and is_a_matrix(arguments):
                return True
    return False


def is_a_matrix(arguments: Arguments) -> bool:
    """Whether the first operand has two dimensions or more."""
    first = arguments.positional[0].value if arguments.positional else None
    return isinstance(first, Tensor) and first.is_matrix


def dimensions_of(size: Argument) -> int:
    """How many dimensions, at least, a size names: `(2, n)` names two, and `n` one."""
    if isinstance(size.value, Tuple):
        return len(size.value.items)
    return max(1, _written_out(size.site))


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
    return False if rank is None and application.keeps_dimension else rank


def is_matrix(application: Application, result: Result) -> bool:
    """Whether the result has two dimensions or more: by the sizes, else by its operands."""
    if application.dimensions or application.rank is not None or result.form is not Form.TENSOR:
        return application.dimensions > 1
    own = result.group or ""
    key = own if own in application.groups else application.signature.device_default or ""
    group = application.groups.get(key)
    return group is not None and is_any_matrix(group.plain)


def is_any_matrix(operands: Iterable[Operand]) -> bool:
    """Whether an operand has two dimensions or more, and so has what comes of it elementwise."""
    return any(isinstance(one.value, Tensor) and one.value.is_matrix for one in operands)


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
        case ListOf() | Tuple() | Array() | Stream():
            return False
        case Tensor():
            return data.scalar
        case _:
            return None


def rank_of_operands(operands: Sequence[Operand], *, unknown: bool) -> bool | None:
    """Whether all operands are 0-dim: the result of an elementwise operation is then, too."""
    ranks = [_rank_of_operand(operand.value) for operand in operands]
    if False in ranks:
        return False
    return None if None in ranks or unknown or not ranks else True


def number_of_dimensions(value: Value) -> Value:
    """`x.dim()`: a number, or what is known of it."""
    if not isinstance(value, Tensor) or value.scalar is None:
        return HostValue(least=2) if isinstance(value, Tensor) and value.is_matrix else HOST
    return Const(0) if value.scalar else HostValue(least=2 if value.is_matrix else 1)


def _rank_of_operand(value: Value) -> bool | None:
    if isinstance(value, Batch):
        return False
    return value.scalar if isinstance(value, Tensor) else None

"""The tensor that a new one takes its dtype or its size from: its device, too, is meant.

It stands in the very call, and so has its value there.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devicelint.domain.alternatives import cases_of
from devicelint.domain.devices import DeviceOf
from devicelint.domain.events import Operand
from devicelint.domain.values import Symbolic, Tensor, Unknown, Value
from devicelint.interpreter.engine.nodes import descendants
from devicelint.interpreter.suggestions.context import RuleContext

_SIZES = frozenset({"shape", "size", "numel", "nelement"})


def device_of_dtype(made: RuleContext, call: cst.Call, reference: Operand) -> str | None:
    """`x.device`, where `dtype=x.dtype` is written: only a tensor has a dtype of torch's."""
    asked = (one.value for one in call.args if one.keyword and one.keyword.value == "dtype")
    return _device_of(made, _owners(asked, frozenset({"dtype"})), reference, is_sure=True)


def device_of_size(made: RuleContext, call: cst.Call, reference: Operand) -> str | None:
    """`x.device`, where the sizes are those of `x`, which is a tensor and no array."""
    asked = (node for one in call.args for node in (one.value, *descendants(one.value)))
    return _device_of(made, _owners(asked, _SIZES), reference, is_sure=False)


def _owners(asked: Iterator[cst.CSTNode], names: frozenset[str]) -> Iterator[cst.BaseExpression]:
    for node in asked:
        if isinstance(node, cst.Attribute) and node.attr.value in names:
            yield node.value


def _device_of(
    made: RuleContext,
    owners: Iterator[cst.BaseExpression],
    reference: Operand,
    *,
    is_sure: bool,
) -> str | None:
    for owner in owners:
        if not isinstance(owner, (cst.Name, cst.Attribute)):
            continue
        values = (value for value, _ in cases_of(made.names.value_of(owner)))
        if all(_may_lie_with(value, reference, is_sure) for value in values):
            return f"{made.code(owner)}.device"
    return None


def _may_lie_with(value: Value, reference: Operand, is_sure: bool) -> bool:
    is_callers = isinstance(reference.device, DeviceOf)
    if isinstance(value, Tensor):
        both = is_callers and isinstance(value.device, DeviceOf)
        return both or value.device == reference.device
    return is_sure and is_callers and isinstance(value, (Symbolic, Unknown))

"""Parts of a tuple that stay where they are, while others in it are moved."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from devicelint.domain.devices import CPU, Device, may_be_accelerator
from devicelint.domain.values import Batch, Tensor, Value
from devicelint.interpreter.engine.memory import UnmovedPart
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.device_words import MOVES


def note_unmoved_parts(run: Run, node: cst.Tuple, items: Sequence[Value]) -> None:
    """Remember what `x.to(device), y` leaves on the CPU, and the move beside it.

    `x, x.to(device)` is a pair on purpose.
    """
    if not run.frame.is_checked or len(items) != len(node.elements):
        return
    sites = [element.value for element in node.elements]
    moved = next(filter(None, map(_moved, sites, items)), None)
    if moved is None:
        return
    call, of, device = moved
    for site, value in zip(sites, items, strict=True):
        if isinstance(value, (Tensor, Batch)) and value.device == CPU and not site.deep_equals(of):
            run.unmoved_parts[value.since] = UnmovedPart(site, call, device)


def _moved(
    site: cst.BaseExpression, value: Value
) -> tuple[cst.Call, cst.BaseExpression, Device] | None:
    """The move that an expression is, what it moves, and where to."""
    if not (isinstance(site, cst.Call) and isinstance(site.func, cst.Attribute)):
        return None
    if not isinstance(value, (Tensor, Batch)) or value.since.site is not site:
        return None
    if site.func.attr.value not in MOVES or not may_be_accelerator(value.device):
        return None
    return site, site.func.value, value.device

"""Parts of Modules that code makes which nobody sees: their inputs meet inside of them.

What a Module keeps as it is made, and calls with tensors that are where the Module is, computes
with these.  A tensor beside them that was made on the CPU, for want of a device, is not there.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devicelint.domain.devices import CPU, agreement
from devicelint.domain.events import Operand
from devicelint.domain.history import Verb
from devicelint.domain.values import Batch, Module, Placed, Tensor, Unknown, Value
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.objects import module_device
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.torch.operations.excuses import DIFFERENT
from devicelint.interpreter.torch.operations.operands import mixes_as_scalar, operand_of
from devicelint.interpreter.torch.operations.reports import report_input

_MADE = frozenset({Verb.CREATED, Verb.CONVERTED})


def check_part(run: Run, owner: Module, part: Value, arguments: Arguments, site: cst.Call) -> None:
    """A part that is not seen is called: with what is on the CPU, beside what its Module has?"""
    if not isinstance(part, Unknown) or not _is_made(part):
        return
    fresh = next(_left_on_the_cpu(arguments), None)
    if fresh is None or not _has_others(arguments):
        return
    place = module_device(run, owner)
    if agreement(place.device, fresh.device) in DIFFERENT:
        report_input(run, site, Operand(site.func, owner, place.device, place.since), fresh)


def _is_made(part: Unknown) -> bool:
    """Whether a call has given something, of which nothing more is known."""
    given = part.symbol
    return given is not None and given.verb is Verb.GIVEN and isinstance(given.site, cst.Call)


def _left_on_the_cpu(arguments: Arguments) -> Iterator[Operand]:
    """The tensors with dimensions that were made without a device."""
    for argument in arguments:
        value = argument.value
        if not isinstance(value, Tensor) or value.device != CPU or value.since.verb not in _MADE:
            continue
        operand = operand_of(value, argument.site)
        if operand is not None and mixes_as_scalar(operand) is False:
            yield operand


def _has_others(arguments: Arguments) -> bool:
    """Whether another tensor is where a caller, or the program, wants it."""
    placed = (one.value for one in arguments if isinstance(one.value, (Tensor, Batch, Placed)))
    return any(agreement(CPU, one.device) in DIFFERENT for one in placed)

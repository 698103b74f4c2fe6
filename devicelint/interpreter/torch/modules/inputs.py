"""The inputs of modules, which should be where the modules are."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import takewhile

import libcst as cst

from devicelint.domain.devices import CPU, agreement
from devicelint.domain.events import Operand
from devicelint.domain.history import Verb
from devicelint.domain.values import Batch, Module, Tensor, Value
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.loop_shapes import comes_round
from devicelint.interpreter.torch.modules.registration import PlainlyKept, move_module
from devicelint.interpreter.torch.operations.excuses import DIFFERENT
from devicelint.interpreter.torch.operations.hard_coded import note_met
from devicelint.interpreter.torch.operations.operands import operand_of
from devicelint.interpreter.torch.operations.reports import report_input


def check_input(run: Run, site: cst.Call, own: Operand, operand: Operand, part: str = "") -> bool:
    """Report an input that is not where its module is, and go on as though it were."""
    if agreement(own.device, operand.device) not in DIFFERENT:
        note_met(run, site, f"{run.code_of(site.func)}()", (own, operand))
        return False
    met = report_input(run, site, own, operand, part)
    if isinstance(own.value, Module) and own.value.ref in run.notes(PlainlyKept).refs:
        return True
    if met.device == CPU and _is_to_move(run, met) and operand.since is not None:
        # It is the module that should be elsewhere.
        move_module(run, met.value, operand.device, operand.since)
    else:
        _go_on_as_moved(run, own, operand)
    return True


def _is_to_move(run: Run, module: Operand) -> bool:
    """Whether a module was never moved, or by a line that comes later in the loop."""
    since = module.since
    if since is None or since.verb is Verb.BUILT:
        return since is not None
    return since.verb is Verb.MOVED and comes_round(run.frame, since.site)


def _go_on_as_moved(run: Run, own: Operand, operand: Operand) -> None:
    """What a misplaced input was passed as is where it should be, for the rest of the calls.

    So is what was placed by it: `positions` of `torch.arange(n, device=tokens.device)`.
    """
    for frame in takewhile(lambda one: operand.since in one.passed, run.frame.outwards()):
        held = run.state.fields(frame.ref).items()
        tensors = {name: value for name, value in held if isinstance(value, (Tensor, Batch))}
        moved = {name for name, value in tensors.items() if value.since == operand.since}
        moved |= {name for name, value in tensors.items() if _is_placed_by(value, moved)}
        for name in moved:
            value = tensors[name]
            since = own.since or value.since
            run.state.write(frame.ref, name, replace(value, device=own.device, since=since))


def _is_placed_by(value: Tensor | Batch, names: Collection[str]) -> bool:
    """Whether the call that put a tensor where it is asks for the device of one of some names."""
    call = value.since.site
    given = (one.value for one in call.args) if isinstance(call, cst.Call) else ()
    return any(
        isinstance(one, cst.Attribute)
        and one.attr.value == "device"
        and isinstance(one.value, cst.Name)
        and one.value.value in names
        for one in given
    )


def inputs_of(arguments: Arguments) -> Iterator[Argument]:
    """What a module that is not seen takes as tensors; its later arguments may be lengths."""
    for position, argument in enumerate(arguments.positional):
        if position == 0 or not _comes_beside(argument.value):
            yield argument
    yield from arguments.keywords.values()
    yield from arguments.spread


def check_again(run: Run, own: Operand, arguments: Arguments, site: cst.Call) -> bool:
    """Whatever a module is, it is given what another loop moves for it."""
    for argument in arguments.positional:
        operand = operand_of(argument.value, argument.site)
        if operand is not None and _is_moved_again(argument.value):
            return check_input(run, site, own, operand)
    return False


def _is_moved_again(value: Value) -> bool:
    """Whether another loop moves what comes at this place of a batch."""
    return isinstance(value, Batch) and value.since.verb is Verb.AGAIN


def _comes_beside(value: Value) -> bool:
    """Whether a value is only known to come with what its own loop moves."""
    return isinstance(value, Batch) and value.since.verb is Verb.BESIDE

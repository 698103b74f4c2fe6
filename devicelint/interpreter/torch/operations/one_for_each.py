"""Functions that give as many tensors as they are given, each where its argument is."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devicelint.domain.history import Step, Verb
from devicelint.domain.values import (
    Batch,
    Stream,
    Symbolic,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import function
from devicelint.interpreter.python.containers.contents import element_of, known_elements
from devicelint.interpreter.torch.operations.operands import operand_of
from devicelint.interpreter.torch.operations.signatures import apply_signature
from devicelint.knowledge import function as signature_of


@function("torch.atleast_1d", "torch.atleast_2d", "torch.atleast_3d")
def at_least(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """One tensor of one, and a tuple of several."""
    given = arguments.positional
    if len(given) == 1 and not arguments.open and not _is_several(run, given[0].value):
        return _like(given[0], site, scalar=False)
    return _each(run, _all_of(run, arguments), site, scalar=False)


@function("torch.broadcast_tensors")
def broadcast(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """Views of what is given, whose devices do not matter."""
    return _each(run, _all_of(run, arguments), site, scalar=None)


@function("torch.autograd.grad")
def gradients(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """A gradient for each input, where that is."""
    signature = signature_of(name)
    if signature is not None:
        apply_signature(run, signature, arguments, site, name=name)
    inputs = arguments.get(1, "inputs")
    if inputs is None:
        return Unknown("no inputs are given to grad()")
    if not _is_several(run, inputs.value):
        return Tuple((_like(inputs, site, scalar=None),))
    known = known_elements(run, inputs.value)
    if known is None:
        element = Argument(inputs.site, element_of(run, inputs.value, site))
        return Stream(_like(element, site, scalar=None), filled=True)
    return _each(run, [Argument(inputs.site, one) for one in known], site, scalar=None)


@function("torch.autograd.functional.jacobian", "torch.autograd.functional.hessian")
def derivatives(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """Of one input, one tensor where the result of the function is; else tuples of tuples."""
    called, inputs = arguments.get(0, "func"), arguments.get(1, "inputs")
    if called is None or inputs is None or _is_several(run, inputs.value):
        return Unknown("derivatives by several inputs")
    made = run.call(called.value, Arguments([inputs]), site)
    if not isinstance(made, Tensor):
        return Unknown("derivatives of several results")
    return replace(made, scalar=None, role="")


def _is_several(run: Run, value: Value) -> bool:
    return not isinstance(value, (Tensor, Batch, Symbolic, Unknown))


def _all_of(run: Run, arguments: Arguments) -> list[Argument] | None:
    """The tensors, given one by one or in one sequence; None where their number is not known."""
    given = arguments.positional
    if arguments.open:
        return None
    if len(given) == 1 and _is_several(run, given[0].value):
        known = known_elements(run, given[0].value)
        return None if known is None else [Argument(given[0].site, one) for one in known]
    return given


def _each(run: Run, given: list[Argument] | None, site: cst.Call, *, scalar: bool | None) -> Value:
    if given is None:
        return Unknown("an unknown number of tensors")
    return Tuple(tuple(_like(one, site, scalar=scalar) for one in given))


def _like(given: Argument, site: cst.Call, *, scalar: bool | None) -> Value:
    """A tensor where one is; it is as large, or has a dimension for sure."""
    value = given.value
    if isinstance(value, Tensor):
        rank = value.scalar if scalar is None else scalar
        return replace(value, scalar=rank, role="")
    operand = operand_of(value, given.site)
    if operand is None:
        return Unknown("made of something unknown")
    since = operand.since or Step(Verb.COMPUTED, site, operand.device)
    return Tensor(operand.device, since, scalar, None)

"""Models of classes that nobody sees: built, asked for their parameters, and never moved.

What gives its parameters is a Module, and a Module is on the CPU until somebody moves it.  One that
was built of numbers alone is told of no device, and nobody moves it who does not get it.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devicelint.domain.devices import CPU
from devicelint.domain.events import Operand
from devicelint.domain.history import Step, Verb
from devicelint.domain.values import (
    Batch,
    Const,
    HostValue,
    ImportedName,
    Placed,
    Symbolic,
    Tensor,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.nodes import children
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.torch.modules.inputs import inputs_of
from devicelint.interpreter.torch.operations.meetings import is_chosen
from devicelint.interpreter.torch.operations.operands import operand_of, report_input

_PARAMETERS = frozenset({"parameters", "named_parameters"})
_STAYS = _PARAMETERS | {"train", "eval", "zero_grad", "state_dict", "load_state_dict"}
"""Methods of Modules that leave them where they are."""


def check_unmoved(run: Run, callee: Unknown, arguments: Arguments, site: cst.Call) -> None:
    """A model that nobody has moved is given what was moved to where the program computes."""
    made = None if callee.symbol is None else callee.symbol.site
    if not isinstance(made, cst.Call) or not isinstance(site.func, cst.Name):
        return
    brought = next(_brought(arguments), None)
    is_new = run.default_device == CPU and _is_built_here(run, made, site.func.value)
    if brought is None or not is_new:
        return
    if not _is_trained_alone(run.frame.node, site.func.value, site) or not _is_of_numbers(
        run, made
    ):
        return
    run.note_made(made)
    since = Step(Verb.BUILT, made, CPU, believed=True)
    report_input(run, site, Operand(site.func, callee, CPU, since), brought)


def _brought(arguments: Arguments) -> Iterator[Operand]:
    """The inputs that were moved to an accelerator, or to a device that the program chooses."""
    for argument in inputs_of(arguments):
        value = argument.value
        if not isinstance(value, (Tensor, Batch, Placed)) or value.since.verb is not Verb.MOVED:
            continue
        operand = operand_of(value, argument.site)
        if operand is not None and is_chosen(value.device):
            yield operand


def _is_built_here(run: Run, made: cst.Call, name: str) -> bool:
    """Whether a name of this very function stands for what a call of something imported gave."""
    bound = run.frame.bindings.get(name)
    if not isinstance(bound, cst.Assign) or bound.value is not made:
        return False
    with run.muted():
        return isinstance(run.evaluate(made.func), ImportedName)


def _is_trained_alone(function: cst.CSTNode, name: str, site: cst.Call) -> bool:
    """Whether a name gives its parameters before a call, and is used for nothing that moves it."""
    asked = False
    for node in _uses(function, name):
        if isinstance(node, cst.Call):
            if node is site:
                return asked
        elif isinstance(node, cst.Attribute) and node.attr.value in _STAYS:
            asked = asked or node.attr.value in _PARAMETERS
        else:
            return False
    return False


def _uses(node: cst.CSTNode, name: str) -> Iterator[cst.CSTNode]:
    """What a name is read for, in order: its attributes, what it is itself, and all calls."""
    if isinstance(node, cst.Call):
        yield node
    if isinstance(node, cst.Attribute):
        owner = node.value
        yield from (node,) if _is_name(owner, name) else _uses(owner, name)
    elif isinstance(node, cst.AssignTarget) and _is_name(node.target, name):
        return
    elif _is_name(node, name):
        yield node
    else:
        for child in children(node):
            yield from _uses(child, name)


def _is_name(node: cst.CSTNode, name: str) -> bool:
    return isinstance(node, cst.Name) and node.value == name


def _is_of_numbers(run: Run, made: cst.Call) -> bool:
    """Whether something is built of numbers, or single options: nothing that may say a device."""
    with run.muted():
        return all(not one.star and _is_number(run.evaluate(one.value)) for one in made.args)


def _is_number(value: Value) -> bool:
    if isinstance(value, Symbolic):
        return "." in value.origin
    is_text = isinstance(value, Const) and isinstance(value.value, str)
    return isinstance(value, (Const, HostValue)) and not is_text

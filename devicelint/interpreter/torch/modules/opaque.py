"""Modules called whose code is not seen: their inputs should be where they are all the same."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.devices import CPU
from devicelint.domain.events import Operand
from devicelint.domain.history import Verb
from devicelint.domain.values import (
    TRUE,
    Batch,
    Const,
    Module,
    Placed,
    Stream,
    Symbolic,
    Tensor,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.objects import module_device
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import calls, library_call
from devicelint.interpreter.python.classes import torch_base_of
from devicelint.interpreter.torch.bundles import as_batch, make_bundle
from devicelint.interpreter.torch.checkpoints.uses import note_moved
from devicelint.interpreter.torch.devices.written_out import note_model
from devicelint.interpreter.torch.modules.inputs import check_again, check_input, inputs_of
from devicelint.interpreter.torch.modules.replaced import brings_its_inputs, check_parts
from devicelint.interpreter.torch.modules.unseen_models import check_unmoved
from devicelint.interpreter.torch.operations.operand_values import is_no_tensor
from devicelint.interpreter.torch.operations.operands import mixes_as_scalar, operand_of
from devicelint.knowledge import kind_of, member_mark


def call_opaque_module(run: Run, module: Module, arguments: Arguments, site: cst.Call) -> Value:
    """A module of a library: its inputs should be where it is; its class says what it gives."""
    kind = kind_of(_known_as(run, module))
    place = module_device(run, module)
    own = Operand(site.func, module, place.device, place.since)
    # A metric elsewhere takes sums from the CPU, and a transformation anything.
    checks = kind == "model" or (kind == "metric" and place.device == CPU)
    checks = checks and not brings_its_inputs(run, module)
    for argument in inputs_of(arguments) if checks else ():
        value = as_batch(run, argument.value)
        operand = operand_of(value, argument.site)
        if operand is None or isinstance(value, Symbolic) or mixes_as_scalar(operand):
            continue
        if check_input(run, site, own, operand):
            break
        if kind == "model":
            check_parts(run, module, operand, site)
    mark = member_mark(module.name, "__call__")
    if mark == "Outputs":
        return _outputs(run, place, arguments, site)
    if mark == "Beside":
        return library_call[mark](run, module, arguments, site)
    if mark == "Output" and not _asks_for_more(arguments):
        place = module_device(run, module)  # A module that was not moved is taken to be fixed.
        return Tensor(place.device, place.since, None, not run.no_grad)
    return Unknown(f"the result of {module.name}")


def _outputs(run: Run, place: Placed, arguments: Arguments, site: cst.Call) -> Value:
    """An object that holds the tensors; a tuple of them instead, where that is asked for."""
    asked = arguments.keywords.get("return_dict")
    if asked is not None and asked.value != TRUE:
        is_tuple = asked.value == Const(False)
        return Stream(Batch(place.device, place.since)) if is_tuple else Unknown("either of two")
    if arguments.open and not arguments.spread:
        return Unknown("the model may be asked for a tuple")
    return make_bundle(run, _OUTPUTS, place, site)


_OUTPUTS = "transformers.Outputs_"
"""What holds the tensors that a model of transformers gives, each under its name."""


def _known_as(run: Run, module: Module) -> str:
    """The class of a library that a Module is of, or that its class extends."""
    return torch_base_of(run, module) or module.name


def _asks_for_more(arguments: Arguments) -> bool:
    """Whether more than one tensor is asked for: `return_attention_weights=True`."""
    return any(name.startswith(("return_", "get_")) for name in arguments.keywords)


@calls(Placed)
def call_moved_module(run: Run, module: Placed, arguments: Arguments, site: cst.Call) -> Value:
    """Something that was moved is called: it is a module, and is where it was moved to.

    Only what the file itself treats as a plain module is checked: a module of a library may move
    its inputs by itself.
    """
    note_moved(run, module.since.site)
    note_model(run, module.since.site)
    own = Operand(site.func, module, module.device, module.since)
    run.steps.module_called(own, arguments)
    if "." in module.origin:
        check_again(run, own, arguments, site)
        return Unknown(f"the result of {module.origin}")
    for argument in () if brings_its_inputs(run, module) else inputs_of(arguments):
        operand = operand_of(argument.value, argument.site)
        if operand is None or not isinstance(argument.value, (Tensor, Batch)):
            continue
        if not check_input(run, site, own, operand):
            check_parts(run, module, operand, site)
        elif operand.since is None or operand.since.verb is not Verb.LOADED:
            return Unknown("what is given an input from elsewhere may be no Module")
    if not arguments.open and all(is_no_tensor(run, one.value) for one in arguments):
        return Unknown(f"{module.origin or 'it'} is given no tensor")  # A pipeline, with its text.
    return Tensor(module.device, module.since, None, not run.no_grad)


@calls(Unknown)
def call_unknown(run: Run, callee: Unknown, arguments: Arguments, site: cst.Call) -> Value:
    """Something unknown is called: another loop may show that it is a module, and where it is."""
    check_unmoved(run, callee, arguments, site)
    answer = run.guesses.called(run, callee, arguments, site)
    return answer or Unknown("the result of something unknown")

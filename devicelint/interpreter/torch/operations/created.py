"""Tensors that a function of torch creates: where their arguments say, or by default."""

from __future__ import annotations

from devicelint.domain.devices import CPU, MAYBE_OF_NUMBERS, Device, Unsure
from devicelint.domain.history import Step, Verb
from devicelint.domain.values import Symbolic, Tensor, Unknown
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.movable import note_followed
from devicelint.interpreter.facts.tensor_parameters import is_no_tensor_here
from devicelint.interpreter.python.unseen import is_setting
from devicelint.interpreter.torch.operations.application import Application
from devicelint.interpreter.torch.operations.operands import common_device, computed, operand_of
from devicelint.interpreter.torch.processes.ranks import rank_of_created
from devicelint.knowledge import Result


def created(run: Run, application: Application, result: Result) -> Tensor:
    """The tensor that a factory gives, with the line that made it."""
    rank = rank_of_created(application, result)
    grad = application.asks_grad
    role = "leaf" if grad else ""
    stated = _stated_device(run, application)
    if stated is not None:
        return Tensor(*stated, rank, grad, role)
    site, device = application.site, run.default_device
    note_followed(run, application.dtype)
    run.note_made(site)
    made = Tensor(device, Step(Verb.CREATED, site, device), rank, grad, role)
    if grad:
        run.steps.leaf(made)
    return made


def _stated_device(run: Run, application: Application) -> tuple[Device, Step] | None:
    """Where the arguments say that a tensor is created; None leaves it to the default device."""
    site = application.site
    if application.device is not None:
        return application.device, Step(Verb.CREATED_ON, site, application.device)
    follows = application.signature.device_default
    if follows is not None:
        group = application.group(follows)
        device, since = common_device(group.plain, unknown=group.unknown)
        return device, computed(site, device, since)
    if isinstance(application.data, Symbolic) and is_no_tensor_here(run, application.data.origin):
        return None
    source = operand_of(application.data, site) if application.data is not None else None
    if source is not None:
        device = source.device
        if isinstance(source.value, Symbolic):
            device = MAYBE_OF_NUMBERS
        return device, computed(site, device, source.since)
    if isinstance(application.data, Unknown) and not is_setting(application.data):
        return MAYBE_OF_NUMBERS, Step(Verb.CREATED, site, CPU)
    if application.may_state:
        return Unsure("made where the caller chooses"), Step(Verb.CREATED, site, CPU)
    return None

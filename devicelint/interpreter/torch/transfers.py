"""Transfers: `.to()`, `.cuda()`, `.cpu()`, and every way of naming a device."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devicelint.domain.devices import (
    CPU,
    Agreement,
    Device,
    DeviceOf,
    InvalidDevice,
    Known,
    Unsure,
    agreement,
    parse_device,
)
from devicelint.domain.events import (
    DevicelessMoved,
    Operand,
    Transfer,
)
from devicelint.domain.history import Step, Verb
from devicelint.domain.values import (
    NONE,
    Batch,
    Const,
    DeviceHandle,
    ImportedName,
    Module,
    NotMovable,
    Parameters,
    Placed,
    Symbolic,
    Tensor,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.objects import module_device, parts_of_moved
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import method_of_unknown
from devicelint.interpreter.facts.device_words import MOVES
from devicelint.interpreter.facts.failures import fail
from devicelint.interpreter.facts.machines.choices import note_demand
from devicelint.interpreter.facts.movable import treat_as_movable
from devicelint.interpreter.python.calls import arguments_of
from devicelint.interpreter.python.unseen import is_computed
from devicelint.interpreter.torch.devices.arguments import demand, device_named, note_index
from devicelint.interpreter.torch.devices.written_out import note_model
from devicelint.interpreter.torch.modules.registration import move_module

_NUMBERED = Unsure("one of several accelerators")
"""What `.cuda(index)` goes to: never to the CPU, whoever gives the number."""


def target_of(
    run: Run, method: str, arguments: Arguments, site: cst.Call
) -> tuple[Device | None, Argument | None]:
    """Where a transfer goes, and the argument that says so; None: it stays where it is."""
    if method == "cpu":
        return CPU, None
    argument = arguments.get(0, "device")
    if method in ("cuda", "xpu"):
        if argument is None or argument.value == NONE:
            return demand(run, None, Known(method), site, f".{method}()"), None
        device = device_named(run, argument)
        if isinstance(device, Known):
            return demand(run, None, device, site, f".{method}()"), argument
        note_index(run, argument.value)
        demand(run, argument, _NUMBERED, site, f".{method}()")
        if run.assumptions == run.unrelated:
            note_demand(run)
        fail(run)
        return Known(method, computed=True), argument
    if argument is None:
        argument = arguments.keywords.get("tensor")
    if argument is None:
        return None, None
    if isinstance(argument.value, Tensor) and argument.value.since.verb is Verb.RECEIVED:
        treat_as_movable(run, argument.value.since)  # `.to(x)` asks for where `x` is.
    device = device_named(run, argument)
    if device is not None:
        device = demand(run, argument, device, site, f".{method}()")
    return device, argument


def move_placed(
    run: Run, value: Tensor | Batch | Placed, method: str, arguments: Arguments, node: cst.Call
) -> Value:
    """A transfer of a tensor, or of what may be one: the result is a copy elsewhere."""
    target, _ = target_of(run, method, arguments, node)
    if target == CPU:
        treat_as_movable(run, value.since)
    result: Value = value
    if target is not None and isinstance(value, Placed):
        _move_parts(run, value, Step(Verb.MOVED, node, target))
    if target is not None and not (target == value.device and isinstance(target, Known)):
        step = Step(Verb.MOVED, node, target)
        result = replace(value, device=target, since=step)
        if isinstance(value, Tensor):
            grad = False if run.no_grad else value.grad
            result = replace(
                value,
                device=target,
                since=step,
                grad=grad,
                role=_moved_role(value, node),
                home=None,
            )
    assert isinstance(node.func, cst.Attribute)
    run.announce_transfer(
        Transfer(node, node.func.value, value, method, target, result, value.device)
    )
    return result


def _move_parts(run: Run, value: Placed, step: Step) -> None:
    """What was put into something of an unknown kind moves with it."""
    for name, part in tuple(run.state.fields(parts_of_moved(value)).items()):
        if isinstance(part, Module):
            move_module(run, part, step.device, step)
        run.state.write(parts_of_moved(replace(value, since=step)), name, part)


def _moved_role(value: Tensor, node: cst.Call) -> str:
    """A Parameter is "lost" where its copy is all that is kept; a copied leaf is "no leaf"."""
    assert isinstance(node.func, cst.Attribute)
    is_held = isinstance(node.func.value, (cst.Attribute, cst.Subscript))
    if value.role == "parameter":
        return "no leaf" if is_held else "lost"
    return "no leaf" if value.role == "leaf" else value.role if value.role != "buffer" else ""


def move_unknown(run: Run, receiver: Value, method: str, node: cst.Call) -> Value:
    """A transfer of something of an unknown kind: wherever it was, it is there now."""
    arguments = arguments_of(run, node)
    if _is_no_device(arguments):
        return Unknown(f"{run.code_of(node.func)} is not a move")
    target, _ = target_of(run, method, arguments, node)
    if not is_computed(run, receiver):
        note_model(run, node)
    if target is None or method == "to_empty":
        return receiver
    origin = receiver.origin if isinstance(receiver, Symbolic) else ""
    if isinstance(receiver, Symbolic) and target == CPU:
        treat_as_movable(run, receiver.since)
    if isinstance(receiver, ImportedName):
        origin = receiver.name
    result = Placed(target, Step(Verb.MOVED, node, target), origin)
    assert isinstance(node.func, cst.Attribute)
    run.announce_transfer(Transfer(node, node.func.value, receiver, method, target, result))
    return result


def _is_no_device(arguments: Arguments) -> bool:
    """Whether `.to("mm")` on something unknown has nothing to do with devices."""
    given = arguments.get(0, "device")
    text = given.value.value if given is not None and isinstance(given.value, Const) else None
    if not isinstance(text, str) or "cuda" in text.lower():
        return False
    try:
        parse_device(text)
    except InvalidDevice:
        return True
    return False


def move_deviceless(
    run: Run, receiver: Value, kind: str, method: str, node: cst.Call, arguments: Arguments
) -> Value:
    """A transfer of an optimizer and its kin, which have no such method."""
    with run.muted():
        target, _ = target_of(run, method, arguments, node)
    assert isinstance(node.func, cst.Attribute)
    model = _model_of(run, receiver)
    run.announce(DevicelessMoved(node, node.func.value, receiver, kind, method, target, model))
    if model is not None and target is not None:
        _move_instead(run, model, Step(Verb.MOVED, node, target))
    return receiver


def _move_instead(run: Run, model: Operand, step: Step) -> None:
    """What follows is checked as though the model had been moved, which is what was meant."""
    if isinstance(model.value, Module):
        if agreement(model.device, step.device) not in (Agreement.SAME, Agreement.UNKNOWN):
            move_module(run, model.value, step.device, step)
    elif isinstance(model.site, cst.Name) and not isinstance(model.value, Placed):
        run.bind(model.site.value, Placed(step.device, step), model.site)


def _model_of(run: Run, receiver: Value) -> Operand | None:
    """The model whose parameters these are, or an optimizer built here is over."""
    over: Value | None = receiver
    if isinstance(receiver, NotMovable):
        made_here = run.made_in.get(receiver.site, (None, 0))[0] is run.frame
        over = receiver.over if made_here else None
    if not isinstance(over, Parameters) or over.site is None:
        return None
    place: Value = over.module
    if isinstance(place, Module):
        place = module_device(run, place)
    if isinstance(place, Placed):
        return Operand(over.site, over.module, place.device, place.since)
    return Operand(over.site, over.module, Unsure("nothing here moves it"))


def own_device(value: Value) -> Device:
    """The device that a value is on, for a report."""
    match value:
        case Tensor() | Batch() | Placed() | DeviceHandle():
            return value.device
        case Symbolic(origin):
            return DeviceOf(origin)
        case _:
            return Unsure("it has no device")


def _move(run: Run, receiver: Value, node: cst.Call) -> Value:
    assert isinstance(node.func, cst.Attribute)
    return move_unknown(run, receiver, node.func.attr.value, node)


method_of_unknown(*MOVES)(_move)


@method_of_unknown("parameters")
def _parameters(run: Run, receiver: Value, node: cst.Call) -> Value | None:
    assert isinstance(node.func, cst.Attribute)
    return None if node.args else Parameters(receiver, node.func.value)

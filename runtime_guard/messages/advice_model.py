"""What to write where a part of the model, and not what it was given, is on the wrong device."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn

from runtime_guard.check.own import modules_of, own_tensors
from runtime_guard.check.walk import tensors_in
from runtime_guard.messages.creation import is_bound_after
from runtime_guard.messages.expressions import tensors_on_line
from runtime_guard.messages.frames import Whereabouts, call_of
from runtime_guard.messages.naming import device_in, name_of_module, named_devices, named_tensors

if TYPE_CHECKING:
    from runtime_guard.check.verdict import Fault

_IN_CONTAINER = re.compile(r"(?P<above>.*?)(?P<name>\w+)\[(?P<key>\"?)")


class Lone(NamedTuple):
    """The one tensor of a model that is not where all its others are."""

    module: nn.Module
    anchor: str
    tensor: Tensor
    others: torch.device


def lone_tensor(root: nn.Module | None) -> Lone | None:
    """The lone tensor of a model; None where there is none, or more than one."""
    if root is None:
        return None
    found = [
        (module, anchor, tensor)
        for _, module in modules_of(root)
        for anchor, tensor in own_tensors(module)
        if tensor.dim()
    ]
    devices = [tensor.device for _, _, tensor in found]
    if len(found) < 3 or len(set(devices)) != 2:  # Of two, either may be the one.
        return None
    for module, anchor, tensor in found:
        if devices.count(tensor.device) == 1:
            return Lone(module, anchor, tensor, next(d for d in devices if d != tensor.device))
    return None


def lone_tensor_of_model(fault: Fault, where: Whereabouts) -> str:
    """What the module was given agrees with the rest of the model."""
    lone, module = lone_tensor(where.root), where.module
    if lone is None or module is not lone.module or lone.anchor != fault.anchor:
        return ""
    is_whole_module = len([each for part in module.modules() for each in own_tensors(part)]) == 1
    left_behind = is_whole_module and lone.tensor.device.type == "cpu"
    if fault.tensor.device != lone.others or left_behind:
        return ""
    return _after_assignment(where, lone.others) + _only(lone)


def own_tensor(fault: Fault, where: Whereabouts) -> str:
    """One of the module's own tensors is not where the others are."""
    if not fault.argument.startswith(("parameter ", "buffer ")):
        return ""
    lone = lone_tensor(where.root)
    is_it = lone is not None and lone.tensor is fault.tensor
    return _after_assignment(where, fault.expected) + (_only(lone) if lone and is_it else "")


def _after_assignment(where: Whereabouts, goal: torch.device) -> str:
    return _moved(where, goal, "after the last of its tensors is assigned")


def _moved(where: Whereabouts, goal: torch.device, place: str) -> str:
    """What to write at a place of the model's making, or where it is entered.

    At the first the device needs a name that has its value before the model does.
    """
    step, model = where.entry, name_of_model(where)
    if step is None:
        return f'write `{model}.to("{goal}")` {place}'
    device = device_in(step, goal)
    is_named = is_bound_after(step, model, device) and bool(named_devices(step, goal))
    is_known = is_named or device == f'"{goal}"'
    return f"write `{model}.to({device})` {place if is_known else f'before {step.written.place}'}"


def _only(lone: Lone) -> str:
    return f": only {lone.anchor} of {type(lone.module).__name__} is on {lone.tensor.device}"


def name_of_model(where: Whereabouts) -> str:
    """How the line that enters the model writes it."""
    if where.entry is None or where.root is None:
        return "model"
    return name_of_module(where.entry.frame, where.root) or "model"


def module_left_behind(fault: Fault, where: Whereabouts) -> str:
    """The input is on the accelerator, and the module is not."""
    root, module, goal = where.root, where.module, fault.tensor.device
    if fault.expected.type != "cpu" or goal.type == "cpu" or root is None or module is None:
        return ""
    if fault.anchor.startswith("argument") or _is_odd(fault, where):
        return ""
    if "[" in where.path:
        return _container(where)
    if all(tensor.device != goal for part in root.modules() for _, tensor in own_tensors(part)):
        return f"{_moved(where, goal, 'where it is made')}: all of it is on {fault.expected}"
    if where.path:
        move = _moved(where, goal, "after the last of its modules is made")
        return f"{move}: {where.path} is still on cpu"
    return f"make it in `__init__`, as a part of the model, or move it to {goal} where it is made"


def _container(where: Whereabouts) -> str:
    """A module that only a plain list holds does not move with the model."""
    match = _IN_CONTAINER.match(where.path)
    if match is None or where.root is None:
        return ""
    above = dict(modules_of(where.root)).get(match["above"].rstrip("."))
    kind = "ModuleDict" if match["key"] else "ModuleList"
    plain = "dict" if match["key"] else "list"
    return (
        f"write `self.{match['name']} = nn.{kind}(…)` in {type(above).__name__}.__init__: "
        f"what a plain {plain} holds does not move with the model"
    )


def odd_argument(fault: Fault, where: Whereabouts) -> str:
    """Why an argument goes to the CPU, where one would expect the model to leave it."""
    if fault.expected.type != "cpu" or fault.anchor.startswith(("argument", "variable")):
        return ""
    if fault.argument.startswith(("parameter ", "buffer ")) or not _is_odd(fault, where):
        return ""
    return f": the model and all else here are on {fault.expected}"


def _is_odd(fault: Fault, where: Whereabouts) -> bool:
    """Whether all but this tensor is where the module is: the model, and what is around it.

    Either the call has other arguments there, or the caller has a variable that says so. Whole
    numbers and masks lie on the CPU of any program, and mean nothing.
    """
    if where.root is None or where.entry is None:
        return False
    args, kwargs = call_of(list(where.inside), where.root) or ((), {})
    own = [tensor for _, part in modules_of(where.root) for _, tensor in own_tensors(part)]
    given = [tensor for _, tensor in tensors_in([*args, *kwargs.values()], "")]
    given += tensors_on_line(where.entry).values()
    rest = [tensor for _, tensor in named_tensors(where.entry.frame)]
    others = [each for each in (*own, *given, *rest) if not _is_view(each, fault.tensor)]
    if any(tensor.device != fault.expected for tensor in others if tensor.dim()):
        return False
    if named_devices(where.entry, fault.tensor.device):
        return False
    agreeing = [
        each for each in given if each.device == fault.expected and each.is_floating_point()
    ]
    return bool(agreeing or named_devices(where.entry, fault.expected))


def _is_view(tensor: Tensor, of: Tensor) -> bool:
    return any(
        each is other
        for each in (tensor, tensor._base)
        for other in (of, of._base)
        if each is not None
    )

"""What to write, and where, so that a tensor is on its module's device: one sentence."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from torch import Tensor, nn

from runtime_guard.check.walk import tensors_in
from runtime_guard.lines import is_torch, is_users, package_of
from runtime_guard.messages.advice_model import (
    lone_tensor_of_model,
    module_left_behind,
    odd_argument,
    own_tensor,
)
from runtime_guard.messages.creation import creation, with_device
from runtime_guard.messages.expressions import tensors_on_line
from runtime_guard.messages.frames import Step, Whereabouts, call_of, module_of
from runtime_guard.messages.moving import moved, movement
from runtime_guard.messages.naming import (
    device_in,
    is_argument,
    named_tensors,
    names_of_tensor,
    tensor_on,
)
from runtime_guard.placement.advice import registration

if TYPE_CHECKING:
    from runtime_guard.check.verdict import Fault

_OPTIMIZERS = f"{os.sep}optim{os.sep}"


def advise(fault: Fault, where: Whereabouts) -> str:
    """What to write so that `fault` does not happen again.

    Never fails: where nothing is certain it says only what is true of every mismatch.
    """
    with suppress(Exception):  # The user's objects are looked into, and may do as they like.
        for answer in _ANSWERS:
            if sentence := answer(fault, where):
                return sentence + odd_argument(fault, where)
    place = f" before {where.failed_at.place}" if where.failed_at else ""
    return f"move it to {fault.expected}{place}, or create it there"


def _state_of_optimizer(_fault: Fault, where: Whereabouts) -> str:
    below = where.inside[where.inside.index(where.failing) + 1 :] if where.failing else ()
    if not any(is_torch(step.file) and _OPTIMIZERS in step.file for step in below):
        return ""
    return (
        "make the optimizer after the model is moved, and load its state after that; a state that "
        "is filled by hand goes to the device of its parameter"
    )


def _attribute(fault: Fault, where: Whereabouts) -> str:
    """It is a plain attribute of a module, which `.to(device)` does not move."""
    for step in where.inside:
        module = module_of(step)
        if module is None:
            continue
        for name, tensor in _plain_tensors(module):
            if tensor is fault.tensor or tensor is fault.tensor._base:
                return _registration(type(module).__name__, name, tensor)
    return ""


def _plain_tensors(module: nn.Module) -> Iterator[tuple[str, Tensor]]:
    for name, value in vars(module).items():
        if name not in ("_parameters", "_buffers", "_modules", "_former_parameters"):
            yield from tensors_in(value, name)


def _registration(owner: str, name: str, tensor: Tensor) -> str:
    kept = "does not move with the model"
    if isinstance(tensor, nn.Parameter):
        first = name.partition("[")[0].partition(".")[0]
        return (
            f"write `self.{first} = nn.ParameterList(…)` in {owner}.__init__: a plain list {kept}"
        )
    if not name.isidentifier():
        return f"register self.{name} as a buffer in {owner}.__init__: as it is, it {kept}"
    return (
        f"write `{registration(name, tensor)}` in {owner}.__init__, in place of "
        f"`self.{name} = …`: a plain attribute {kept}"
    )


def _made_here(fault: Fault, where: Whereabouts) -> str:
    """The line that makes it can be seen, and says no device."""
    for step in reversed([step for step in where.inside if is_users(step.file)]):
        names = names_of_tensor(step, fault.tensor)
        if any(is_argument(step, name) for name in names):
            return ""
        line = creation(step, names)
        if line is not None:
            return f"write {with_device(line, _device_for(step, fault, where))} at {line.place}"
    return ""


def _device_for(step: Step, fault: Fault, where: Whereabouts) -> str:
    """In a forward, that of a tensor at hand: a module must not know of any other."""
    like = tensor_on(step, fault.expected) if module_of(step) is not None else ""
    return f"{like}.device" if like else device_in(step, fault.expected, where.root)


def _variable(fault: Fault, where: Whereabouts) -> str:
    """The user's code holds it under a name, and can move it there."""
    # Without a model it is moved where it is used: further out it may serve another purpose.
    for step in where.inside if where.entry else where.inside[::-1]:
        names = names_of_tensor(step, fault.tensor) if is_users(step.file) else []
        if names and is_argument(step, names[0]) and step is not where.inside[0]:
            return ""
        if names:
            device = device_in(step, fault.expected, where.root)
            return movement(step, names[0], device, fault.expected)
    return ""


def _argument_of_model(fault: Fault, where: Whereabouts) -> str:
    """It was computed from something that the model was given on the same wrong device."""
    entry, root = where.entry, where.root
    call = call_of(list(where.inside), root) if root is not None else None
    if entry is None or call is None or not is_users(entry.file):
        return ""
    args, kwargs = call
    given = [tensor for _, tensor in tensors_in([*args, *kwargs.values()], "")]
    wrong = [each for each in given if each.device == fault.tensor.device and each.dim()]
    if not wrong:
        return ""
    held = [name for tensor in wrong for name in names_of_tensor(entry, tensor)[:1]]
    names = held or _on_line(entry, fault.tensor)
    device = device_in(entry, fault.expected, root)
    if len(names) == 1:
        return movement(entry, names[0], device, fault.expected)
    if names:
        moves = dict.fromkeys(moved(entry, name, device, fault.expected) for name in names[:3])
        return f"write `{'` and `'.join(moves)}` before {entry.written.place}"
    return f"write `.to({device})` behind what the model is given at {entry.written.place}"


def _on_line(step: Step, tensor: Tensor) -> list[str]:
    """What the line names that is on the same device: what it passes may be computed from that."""
    found = tensors_on_line(step).items()
    return [name for name, each in found if each.device == tensor.device and each.dim()]


def _from_library(fault: Fault, where: Whereabouts) -> str:
    """The loop of a library calls the model with it."""
    entry = where.entry
    package = package_of(entry.file) if entry else ""
    if entry is None or not package or not _reaches(entry, fault.tensor):
        return ""
    return (
        f"{package} calls the model with it, and has not moved it: move it to {fault.expected} "
        "where the batch is made"
    )


def _reaches(entry: Step, tensor: Tensor) -> bool:
    return any(found.device == tensor.device for _, found in named_tensors(entry.frame))


def _somewhere_inside(fault: Fault, where: Whereabouts) -> str:
    """It appears between the model's arguments, which are right, and the module that failed."""
    step, line = where.failing, where.failed_at
    if step is None or line is None or step is where.entry or not is_users(step.file):
        return ""
    device = _device_for(step, fault, where)
    names = names_of_tensor(step, fault.tensor) or _on_line(step, fault.tensor)
    if names:
        return movement(step, names[0], device, fault.expected)
    made = f"it is made inside {line.function}, or in what it calls"
    return f"create it with `device={device}`: {made}"


_ANSWERS = (
    own_tensor,
    _state_of_optimizer,
    lone_tensor_of_model,
    module_left_behind,
    _attribute,
    _made_here,
    _variable,
    _argument_of_model,
    _from_library,
    _somewhere_inside,
)

"""What to write, and where, so that a tensor is on its module's device: one sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from torch import Tensor, nn

from runtime_guard._frames import Step, Whereabouts, call_of, module_of
from runtime_guard._lines import is_library, is_plumbing, line_at, package_of
from runtime_guard._naming import (
    device_in,
    is_argument,
    name_of_module,
    named_tensors,
    names_of_tensor,
    tensor_on,
    value_at,
)
from runtime_guard._own import modules_of, own_tensors
from runtime_guard._walk import tensors_in

if TYPE_CHECKING:
    from runtime_guard._check import Fault
    from runtime_guard._mismatch import Line

_FACTORIES = (
    "arange|as_tensor|empty|eye|from_numpy|full|linspace|logspace|normal|ones|rand|randint|randn"
    "|randperm|scalar_tensor|tensor|tril_indices|triu_indices|zeros|hann_window|hamming_window"
)
_MADE = re.compile(rf"\btorch\.(?:{_FACTORIES}|(?:\w*Float|Long|Bool)?Tensor)\(")
_WHOLE_CALL = re.compile(r"[\w.]+ = torch\.\w+\([^()]*(?:\([^()]*\)[^()]*)*\)")
_IN_CONTAINER = re.compile(r"(?P<above>.*?)(?P<name>\w+)\[(?P<key>\"?)")


def advise(fault: Fault, where: Whereabouts) -> str:
    """What to write so that `fault` does not happen again.

    Never fails: where nothing is certain it says only what is true of every mismatch.
    """
    with suppress(Exception):  # The user's objects are looked into, and may do as they like.
        for answer in _ANSWERS:
            if sentence := answer(fault, where):
                return sentence
    place = f" before {_place(where.failed_at)}" if where.failed_at else ""
    return f"move it to {fault.expected}{place}, or create it there"


def _module_left_behind(fault: Fault, where: Whereabouts) -> str:
    """The input is on the accelerator, and the module is not."""
    root, module, goal = where.root, where.module, fault.tensor.device
    if fault.expected.type != "cpu" or goal.type == "cpu" or root is None or module is None:
        return ""
    if fault.anchor.startswith("argument"):
        return ""
    model = where.entry and name_of_module(where.entry.frame, root)
    device = device_in(where.entry, goal) if where.entry else f'"{goal}"'
    move = f"write `{model or 'model'}.to({device})`"
    if all(tensor.device != goal for part in root.modules() for _, tensor in own_tensors(part)):
        return f"{move} where it is made: all of it is on {fault.expected}"
    if "[" in where.path:
        return _container(where)
    if where.path:
        return f"{move} after the last of its modules is made: {where.path} is still on cpu"
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
        f'write `self.register_buffer("{name}", …)` in {owner}.__init__, in place of '
        f"`self.{name} = …`: a plain attribute {kept}"
    )


def _made_in_forward(fault: Fault, where: Whereabouts) -> str:
    """The line that makes it can be seen, and says no device."""
    for step in reversed([step for step in where.inside if _is_of_user(step)]):
        names = names_of_tensor(step.frame, fault.tensor)
        if any(is_argument(step, name) for name in names):
            return ""
        line = _creation(step, names)
        if line is None:
            continue
        like = tensor_on(step, fault.expected)
        device = f"{like}.device" if like else device_in(step, fault.expected, where.root)
        if _WHOLE_CALL.fullmatch(line.text):
            return f"write `{line.text[:-1]}, device={device})` at {_place(line)}"
        return f"write `device={device}` in the call that makes it, at {_place(line)}"
    return ""


def _creation(step: Step, names: list[str]) -> Line | None:
    """The line, at or above the present one, at which a factory of torch made it."""
    code, here = step.frame.f_code, line_at(step.frame, step.line)
    for name in names:
        assigned = re.compile(rf"{re.escape(name)}\s*=[^=]")
        for number in range(step.line, code.co_firstlineno, -1):
            line = line_at(step.frame, number)
            if assigned.match(line.text):
                return line if _makes(line.text) else None
    return here if not names and _makes(here.text) else None


def _makes(text: str) -> bool:
    return bool(_MADE.search(text)) and "device=" not in text and ".to(" not in text


def _variable(fault: Fault, where: Whereabouts) -> str:
    """The user's code holds it under a name, and can move it there."""
    for step in where.inside:
        names = names_of_tensor(step.frame, fault.tensor) if _is_of_user(step) else []
        if names and is_argument(step, names[0]) and step is not where.inside[0]:
            return ""
        if names:
            return f"write {_movement(step, names[0], fault, where)} before {_place_of(step)}"
    return ""


def _movement(step: Step, name: str, fault: Fault, where: Whereabouts) -> str:
    device = device_in(step, fault.expected, where.root)
    holder = value_at(step.frame, name)
    variable = re.split(r"[.\[]", name, maxsplit=1)[0]
    if variable == name:
        return f"`{name} = {name}.to({device})`"
    if callable(getattr(holder, "to", None)) and not isinstance(holder, nn.Module):
        return f"`{variable} = {variable}.to({device})`"
    plain = holder.values() if isinstance(holder, dict) else holder
    if isinstance(holder, (dict, tuple)) and all(isinstance(part, Tensor) for part in plain):
        return f"`{variable} = {_all_moved(variable, holder, device)}`"
    if isinstance(holder, tuple):
        return f"`.to({device})` at `{name}`"
    return f"`{name} = {name}.to({device})`"


def _all_moved(name: str, holder: object, device: str) -> str:
    if isinstance(holder, dict):
        return f"{{key: value.to({device}) for key, value in {name}.items()}}"
    return f"[each.to({device}) for each in {name}]"


def _argument_of_model(fault: Fault, where: Whereabouts) -> str:
    """It was computed from something that the model was given on the same wrong device."""
    entry, root = where.entry, where.root
    call = call_of(list(where.inside), root) if root is not None else None
    if entry is None or call is None or not _is_of_user(entry):
        return ""
    args, kwargs = call
    given = [tensor for _, tensor in tensors_in([*args, *kwargs.values()], "")]
    wrong = [each for each in given if each.device == fault.tensor.device and each.dim()]
    if not wrong:
        return ""
    names = [names_of_tensor(entry.frame, tensor)[:1] for tensor in wrong]
    moves = [_movement(entry, name, fault, where) for found in names for name in found]
    if moves:
        said = " and ".join(dict.fromkeys(moves[:3]))
        return (
            f"write {said} before {_place_of(entry)}: the model was given it on {wrong[0].device}"
        )
    device = device_in(entry, fault.expected, root)
    return f"write `.to({device})` behind what the model is given at {_place_of(entry)}"


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
    if step is None or line is None or step is where.entry or not _is_of_user(step):
        return ""
    like = tensor_on(step, fault.expected)
    device = f"{like}.device" if like else device_in(step, fault.expected, where.root)
    names = names_of_tensor(step.frame, fault.tensor)
    if names:
        return f"write {_move_of(names[0], device)} before {_place(line)}"
    return (
        f"create it with `device={device}`: it is made inside {line.function}, or in what it calls"
    )


def _move_of(name: str, device: str) -> str:
    return f"`{name} = {name}.to({device})`"


def _is_of_user(step: Step) -> bool:
    return not is_plumbing(step.file) and not is_library(step.file)


def _place_of(step: Step) -> str:
    return _place(line_at(step.frame, step.line))


def _place(line: Line) -> str:
    return f"{line.file}:{line.line}"


_ANSWERS = (
    _module_left_behind,
    _attribute,
    _made_in_forward,
    _variable,
    _argument_of_model,
    _from_library,
    _somewhere_inside,
)

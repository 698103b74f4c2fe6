"""The statement that moves a tensor: by its name, or inside of what holds it."""

from __future__ import annotations

import ast
import inspect
import re
from contextlib import suppress
from dataclasses import is_dataclass
from typing import TYPE_CHECKING, Any, cast

from torch import Tensor, nn

from runtime_guard.check.walk import tensors_in
from runtime_guard.messages.creation import moved_above
from runtime_guard.messages.expressions import value_of

if TYPE_CHECKING:
    import torch

    from runtime_guard.messages.frames import Step

_LAST_PART = re.compile(r"(?P<holder>.+?)(?:\.(?P<field>\w+)|\[(?P<key>[^\[\]]+)\])")


def movement(step: Step, path: str, device: str, goal: torch.device) -> str:
    """What to write, and where, so that the tensor at `path` is on `goal`; arguments as `moved`."""
    place = step.written.place
    if _is_of_expression(step, path) or _is_computed(step, path):
        return f"write `{path}.to({device})` in place of `{path}` at {place}"
    return f"write `{moved(step, path, device, goal)}` before {place}"


def _is_of_expression(step: Step, path: str) -> bool:
    """Whether a lambda or a comprehension binds the variable: no statement can stand before it."""
    name = _head(path)
    with suppress(SyntaxError, ValueError):  # The line may be a part of a statement.
        for node in ast.walk(ast.parse(step.written.text)):
            if isinstance(node, (ast.comprehension, ast.Lambda)):
                bound = node.args if isinstance(node, ast.Lambda) else node.target
                if any(name in vars(part).values() for part in ast.walk(bound)):
                    return True
    code = step.frame.f_code
    return code.co_name.startswith("<") and name in code.co_varnames


def _is_computed(step: Step, path: str) -> bool:
    """Whether it is a property that cannot be assigned to."""
    match = _LAST_PART.fullmatch(path)
    if match is None or match["field"] is None:
        return False
    holder = type(value_of(step, match["holder"]))
    found = inspect.getattr_static(holder, match["field"], None)
    return isinstance(found, property) and found.fset is None


def _head(path: str) -> str:
    return re.split(r"[.\[]", path, maxsplit=1)[0]


def moved(step: Step, path: str, device: str, goal: torch.device) -> str:
    """A statement after which the tensor at `path` is on `goal`.

    Args:
        step: where the path is read.
        path: how the tensor is written there: `x`, `batch["mask"]`, `state[0]`.
        device: what to write for the device.
        goal: the device.
    """
    whole = _itself(step, path, goal)
    if whole:
        return f"{whole} = {whole}.to({device})"
    match = _LAST_PART.fullmatch(path)
    name = match["holder"] if match else ""
    holder = value_of(step, name)
    if isinstance(holder, tuple) and not hasattr(holder, "_fields") and _are_tensors(holder):
        return _assigned(step, name, f"tuple(each.to({device}) for each in {name})")
    if isinstance(holder, list) and _are_tensors(holder) and _is_torn(holder, goal):
        return _assigned(step, name, f"[each.to({device}) for each in {name}]")
    if isinstance(holder, dict) and len(holder) > 1 and _are_elsewhere(holder.values(), goal):
        each = f"{{key: value.to({device}) for key, value in {name}.items()}}"
        return _assigned(step, name, each)
    return _assigned(step, path, f"{path}.to({device})")


def _assigned(step: Step, path: str, value: str) -> str:
    """A statement that puts `value` at `path`: what cannot be assigned to is made anew."""
    match = _LAST_PART.fullmatch(path)
    name = match["holder"] if match else ""
    holder = value_of(step, name)
    if match and isinstance(holder, tuple) and hasattr(holder, "_replace"):
        field = match["field"] or cast("Any", holder)._fields[int(match["key"])]
        return _assigned(step, name, f"{name}._replace({field}={value})")
    if match and isinstance(holder, tuple) and match["key"]:
        return _assigned(step, name, _tuple(name, holder, int(match["key"]), value))
    if match and is_dataclass(holder) and _is_frozen(type(holder)):
        changed = f"dataclasses.replace({name}, {match['field']}={value})"
        return _assigned(step, name, changed)
    return f"{path} = {value}"


def _itself(step: Step, path: str, goal: torch.device) -> str:
    """The variable that holds the tensor, where it can move itself and has not done so yet.

    A method that binds its own object anew leaves everybody else with the old one.
    """
    name = _head(path)
    holder = value_of(step, name)
    if name == path or isinstance(holder, (Tensor, nn.Module)) or moved_above(step, name):
        return ""
    # Not of the object: ignite's metrics answer to every name.
    can_move = callable(inspect.getattr_static(type(holder), "to", None))
    can_move = can_move and not _is_receiver(step, name, holder)
    inside = [*tensors_in(holder, name), *tensors_in(getattr(holder, "__dict__", None), name)]
    return name if can_move and all(tensor.device != goal for _, tensor in inside) else ""


def _is_receiver(step: Step, name: str, value: object) -> bool:
    """Whether a variable is the object of the method that runs there."""
    code = step.frame.f_code
    is_first = code.co_argcount > 0 and code.co_varnames[0] == name
    return is_first and hasattr(type(value), code.co_name)


def _tuple(name: str, holder: tuple[Any, ...], index: int, value: str) -> str:
    before = [f"*{name}[:{index}]"] if index else []
    after = [f"*{name}[{index + 1}:]"] if index + 1 < len(holder) else []
    parts = [*before, value, *after]
    return f"({', '.join(parts)})" if len(parts) > 1 else f"({parts[0]},)"


def _are_tensors(values: tuple[Any, ...] | list[Any]) -> bool:
    return all(isinstance(value, Tensor) for value in values)


def _is_torn(values: list[Tensor], goal: torch.device) -> bool:
    """Whether more than one of them has to be moved."""
    return len([value for value in values if value.device != goal]) > 1


def _are_elsewhere(values: Any, goal: torch.device) -> bool:
    return all(isinstance(value, Tensor) and value.device != goal for value in values)


def _is_frozen(kind: Any) -> bool:
    return bool(kind.__dataclass_params__.frozen)

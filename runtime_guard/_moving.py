"""The statement that moves a tensor: by its name, or inside of what holds it."""

from __future__ import annotations

import re
from dataclasses import is_dataclass
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from runtime_guard._expressions import value_of
from runtime_guard._walk import tensors_in

if TYPE_CHECKING:
    import torch

    from runtime_guard._frames import Step

_LAST_PART = re.compile(r"(?P<holder>.+?)(?:\.(?P<field>\w+)|\[(?P<key>[^\[\]]+)\])")


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
    if match is None:
        return f"{path} = {path}.to({device})"
    name, holder = match["holder"], value_of(step, match["holder"])
    if _is_named_tuple(holder):
        return f"{name} = {name}._replace({match['field']}={path}.to({device}))"
    if isinstance(holder, tuple):
        return f"{name} = {_tuple(name, holder, int(match['key']), device)}"
    if isinstance(holder, dict) and len(holder) > 1 and _are_elsewhere(holder.values(), goal):
        return f"{name} = {{key: value.to({device}) for key, value in {name}.items()}}"
    if is_dataclass(holder) and type(holder).__dataclass_params__.frozen:
        return f"{name} = dataclasses.replace({name}, {match['field']}={path}.to({device}))"
    return f"{path} = {path}.to({device})"


def _itself(step: Step, path: str, goal: torch.device) -> str:
    """The variable that holds the tensor, where it can move itself, and has not half done so."""
    name = re.split(r"[.\[]", path, maxsplit=1)[0]
    holder = value_of(step, name)
    if name == path or isinstance(holder, (Tensor, nn.Module)):
        return ""
    can_move = callable(getattr(holder, "to", None))
    inside = [*tensors_in(holder, name), *tensors_in(getattr(holder, "__dict__", None), name)]
    return name if can_move and all(tensor.device != goal for _, tensor in inside) else ""


def _is_named_tuple(value: object) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_replace")


def _tuple(name: str, holder: tuple[Any, ...], index: int, device: str) -> str:
    if all(isinstance(part, Tensor) for part in holder):
        return f"tuple(each.to({device}) for each in {name})"
    before = [f"*{name}[:{index}]"] if index else []
    after = [f"*{name}[{index + 1}:]"] if index + 1 < len(holder) else []
    parts = [*before, f"{name}[{index}].to({device})", *after]
    return f"({', '.join(parts)})" if len(parts) > 1 else f"({parts[0]},)"


def _are_elsewhere(values: Any, goal: torch.device) -> bool:
    return all(isinstance(value, Tensor) and value.device != goal for value in values)

"""The tensors of an optimizer: its state, and the parameters that are not the model's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import Tensor
from torch.optim import Optimizer

from runtime_guard.placement.walk import Held, inside

if TYPE_CHECKING:
    from collections.abc import Iterator


def held_by_optimizer(optimizer: Optimizer, model: list[Held]) -> list[Held]:
    """Return what the optimizer holds beyond the tensors of the model.

    State follows its parameter, wherever that is. What is no optimizer of torch places its
    tensors itself, as those of DeepSpeed do.
    """
    names = {id(each.tensor): f"model.{each.path}" for each in model}
    seen = set(names)
    places_itself = not isinstance(optimizer, Optimizer)
    held: list[Held] = []
    for path, parameter in _parameters(optimizer):
        if id(parameter) not in seen:
            seen.add(id(parameter))
            names[id(parameter)] = path
            held.append(Held(path, "optimizer parameter", parameter, placed=places_itself))
    for parameter, state in list(optimizer.state.items()):
        name = names.get(id(parameter), "…")
        at_home = isinstance(parameter, Tensor) and parameter.device.type == "cpu"
        for path, _, tensor in inside(state, f"optimizer.state[{name}]", seen):
            if isinstance(tensor, Tensor):
                placed = places_itself or at_home
                held.append(Held(path, "optimizer state", tensor, placed=placed))
    return held


def _parameters(optimizer: Optimizer) -> Iterator[tuple[str, Any]]:
    for at, group in enumerate(optimizer.param_groups):
        for index, parameter in enumerate(group["params"]):
            yield f'optimizer.param_groups[{at}]["params"][{index}]', parameter

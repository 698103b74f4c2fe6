"""Why a tensor was left behind on the CPU, and what to write."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

    from runtime_guard.placement.walk import Held

REMARK = (
    "a plain attribute, which model.to() does not move: as an index it is copied at each use, "
    "anywhere else it fails"
)
_REGISTERED = {"list": "nn.ModuleList", "tuple": "nn.ModuleList", "dict": "nn.ModuleDict"}


def problem_of(held: Held, main_device: str) -> str:
    """Return the reason and the remedy for what `held` has on the CPU."""
    match held.kind:
        case "parameter" | "buffer":
            return _late(held.kind, main_device)
        case "attribute":
            return _attribute(held)
        case "list":
            return _unregistered(held.container, main_device)
        case "optimizer parameter":
            return (
                "not a parameter of the model, so model.to() does not move it: make the optimizer "
                "from model.parameters(), after the model is moved"
            )
        case "optimizer state":
            return (
                "loaded before the model was moved, so it stayed: call "
                "optimizer.load_state_dict(…) after model.to(…)"
            )


def _late(kind: str, main_device: str) -> str:
    return (
        f"a {kind} that was made after the move, or whose module was not moved: "
        f'call model.to("{main_device}") once the model is complete'
    )


def _attribute(held: Held) -> str:
    if held.container:
        remedy = "nn.ParameterList" if held.tensor.requires_grad else "self.register_buffer"
        each = "" if held.tensor.requires_grad else " for each of them"
        return f"in a plain {held.container}, which model.to() does not move: use {remedy}{each}"
    name = held.path.rpartition(".")[2]
    written = registration(name, held.tensor)
    return f"a plain attribute, which model.to() does not move: write {written}"


def registration(name: str, tensor: Tensor) -> str:
    """What to write in place of `self.name = …`, so that the tensor moves with its module.

    A buffer that is persistent would be missing in the checkpoints that there are.
    """
    if tensor.requires_grad and tensor.is_leaf:
        return f"self.{name} = nn.Parameter(…)"
    return f'self.register_buffer("{name}", …, persistent=False)'


def _unregistered(container: str, main_device: str) -> str:
    if container not in _REGISTERED:
        return (
            "in a module that is not registered, so model.to() does not move it: "
            f'move that module with .to("{main_device}") as well'
        )
    return (
        f"in a module in a plain {container}, which model.to() does not move and "
        f"model.parameters() does not have: use {_REGISTERED[container]}"
    )

"""Errors of what wraps a model: which of its tensors are on which device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import nn

from runtime_guard.check.own import modules_of, own_tensors
from runtime_guard.lines import is_torch
from runtime_guard.messages.explained_line import by_device
from runtime_guard.messages.frames import Step, users_step, values_of, whereabouts
from runtime_guard.messages.message import HEAD, headline, path_in, places, row
from runtime_guard.messages.naming import name_of_module

if TYPE_CHECKING:
    from runtime_guard.messages.text import ErrorText


def of_model(steps: list[Step], text: ErrorText) -> str:
    """The parameters and buffers of the model that was to be wrapped, device by device."""
    model, step = _wrapped(steps), users_step(steps)
    if model is None or step is None:
        return ""
    named = [
        (f"{path}.{path_in(anchor)}".removeprefix("."), tensor)
        for path, module in modules_of(model)
        for anchor, tensor in own_tensors(module)
        if tensor.dim()
    ]
    devices = [tensor.device for _, tensor in named]
    named.sort(key=lambda item: devices.count(item[1].device))  # What was forgotten comes first.
    spread = " and ".join(dict.fromkeys(str(device) for device in devices))
    where = whereabouts(steps)
    lines = [*headline(f"{HEAD}{type(model).__name__} has parameters and buffers on {spread}")]
    lines += places(step.written, where.entered_at, where.launched_at)
    name = name_of_module(step.frame, model)
    is_torn = len(set(devices)) > 1
    advice = (
        f"write `{name}.to(device)` before {step.written.place}"
        if name and is_torn
        else text.advice
    )
    return "\n".join([*lines, *row("to fix it", advice), *by_device(named)])


def _wrapped(steps: list[Step]) -> nn.Module | None:
    """What the innermost of torch's wrappers was given, or holds."""
    for step in reversed(steps):
        values = values_of(step.frame) if is_torch(step.file) else {}
        for model in (values.get("module"), getattr(values.get("self"), "module", None)):
            if isinstance(model, nn.Module):
                return model
    return None

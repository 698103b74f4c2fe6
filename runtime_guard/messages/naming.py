"""What the user's code calls a value: the variables that hold a tensor, a model, a device."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sized
from contextlib import suppress
from itertools import islice
from types import FrameType, FunctionType, ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from runtime_guard.check.walk import tensors_in
from runtime_guard.messages.expressions import words_of
from runtime_guard.messages.frames import Step, module_of, values_of

_LARGEST = 1000
"""Of how many values a container may have to be looked into."""

# What people call the number of the accelerator that a process is to use.
_NUMBERS = frozenset({"rank", "local_rank", "gpu", "gpu_id", "device_id"})
# Objects of libraries that know the device of their process.
_GUIDES = frozenset({"Accelerator", "Fabric"})


def names_of_tensor(step: Step, tensor: Tensor) -> list[str]:
    """Every way to write `tensor` here, the shortest first: `mask`, `batch["mask"]`.

    Only by what the failing part of the line names: what else holds it may come too late, or serve
    another purpose. Where none of it holds the tensor, what holds the one that it is a view of.
    """
    words = words_of(step)
    named = [item for item in named_tensors(step.frame) if not words or _head(item[0]) in words]
    for wanted in (tensor, tensor._base):
        names = [name for name, found in named if found is wanted]
        if names:
            return sorted(names, key=len)
    return []


def named_tensors(frame: FrameType) -> Iterator[tuple[str, Tensor]]:
    """The tensors that local variables hold, also in containers and as attributes of objects."""
    for name, value in values_of(frame).items():
        if _is_small(value):
            yield from islice(tensors_in(value, name), _LARGEST)
        if not isinstance(value, (Tensor, nn.Module)):
            yield from _attributes(name, value)


def _is_small(value: object) -> bool:
    if isinstance(value, (Tensor, nn.Module, type)):
        return isinstance(value, Tensor)
    with suppress(Exception):  # The length of a stranger, which may not have one yet.
        return not isinstance(value, Sized) or len(value) <= _LARGEST
    return False


def _attributes(name: str, value: object) -> Iterator[tuple[str, Tensor]]:
    """Tensors that a plain object has, one level deep; a module's are not its user's to move."""
    if isinstance(value, (type, ModuleType, FunctionType, Mapping)):
        return
    for attribute, part in islice(getattr(value, "__dict__", {}).items(), _LARGEST):
        if isinstance(part, Tensor):
            yield f"{name}.{attribute}", part


def _head(path: str) -> str:
    for index, character in enumerate(path):
        if character in ".[":
            return path[:index]
    return path


def name_of_module(frame: FrameType, module: nn.Module) -> str:
    """How to write `module` in this frame: `model`, `self.model`; empty where it has no name."""
    local = values_of(frame)
    for name, value in (*local.items(), *frame.f_globals.items()):
        if value is module and not name.startswith("_"):
            return name
    for name, value in local.items():
        held = {**getattr(value, "__dict__", {}), **getattr(value, "_modules", {})}
        for attribute, part in islice(held.items(), _LARGEST):
            if part is module and not isinstance(value, ModuleType):
                return f"{name}.{attribute}"
    return ""


def device_in(step: Step, wanted: torch.device, model: nn.Module | None = None) -> str:
    """What to write for the device in this frame: what the user has there, if anything."""
    found = named_devices(step, wanted)
    if found:
        near = step.frame.f_code.co_varnames
        return min(found, key=lambda name: (name != "device", name not in near, len(name)))
    if tensor := tensor_on(step, wanted):
        return f"{tensor}.device"
    name = name_of_module(step.frame, model) if model is not None else ""
    if name and model is not None and _first_device(model) == wanted:
        return f"next({name}.parameters()).device"
    return f'"{wanted}"'


def named_devices(step: Step, wanted: torch.device) -> list[str]:
    """What the frame calls the device, or the object that knows it: `device`, `args.device`."""
    values = _all_values(step.frame)
    found = [name for name, value in values.items() if _names(name, value, wanted)]
    return found + [f"{name}.device" for name, value in values.items() if _knows(value, wanted)]


def tensor_on(step: Step, wanted: torch.device) -> str:
    """The name of a tensor on this device, the method's arguments first; empty if there is none."""
    values = values_of(step.frame)
    for name, value in values.items():
        if isinstance(value, Tensor) and value.device == wanted and not name.startswith("_"):
            return name
    return ""


def _all_values(frame: FrameType) -> dict[str, Any]:
    return {**frame.f_globals, **values_of(frame)}


def _names(name: str, value: object, wanted: torch.device) -> bool:
    if isinstance(value, torch.device):
        return _is_same(value, wanted)
    if isinstance(value, str) and "dev" in name.lower():
        with suppress(RuntimeError):  # Another word than that of a device.
            return _is_same(torch.device(value), wanted)
    if name in _NUMBERS and isinstance(value, int) and not isinstance(value, bool):
        return wanted.type not in ("cpu", "meta") and value == wanted.index
    return False


def _knows(value: object, wanted: torch.device) -> bool:
    """Whether it has a `device`, as `args.device` and Lightning's `self.device`."""
    if isinstance(value, (Tensor, type, ModuleType)):
        return False
    device = getattr(value, "__dict__", {}).get("device")
    described = isinstance(inspect.getattr_static(type(value), "device", None), property)
    if described and (isinstance(value, nn.Module) or type(value).__name__ in _GUIDES):
        with suppress(Exception):  # Somebody's property; without it there is another answer.
            device = getattr(value, "device", None)
    return _names("device", device, wanted)


def _is_same(device: torch.device, wanted: torch.device) -> bool:
    return device.type == wanted.type and device.index in (None, wanted.index)


def _first_device(model: nn.Module) -> torch.device | None:
    return next((parameter.device for parameter in model.parameters()), None)


def is_argument(step: Step, name: str) -> bool:
    """Whether a variable is one of the arguments of the forward that this step is in."""
    code = step.frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount
    return (
        code.co_name == "forward"
        and module_of(step) is not None
        and _head(name) in code.co_varnames[:count]
    )

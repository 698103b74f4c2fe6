"""Lets the mode see what torch's own Python does, not only that it was called.

A function of `torch.nn.functional` asks first whether somebody overrides it, and would hand itself
over whole. Only a class of tensors overrides here: the mode waits for what the function calls.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.utils._device import DeviceContext

from runtime_guard.virtual.devices.machine import machine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from runtime_guard.virtual.patching import Patches

PLAIN = frozenset({Tensor, torch.nn.Parameter, torch.nn.parameter.Buffer, type(None)})

ANSWERS: list[Any] = []
"""What answers the questions for overriding, inside the block."""

_places: list[tuple[Any, str, Any]] = []
"""Where it does, and what answers there outside."""


def install(patches: Patches) -> None:
    """Let the questions for overriding ask for classes of tensors alone."""
    answers = {
        "has_torch_function": _of_several,
        "has_torch_function_unary": _of_one,
        "has_torch_function_variadic": _of_arguments,
    }
    made = {name: make(getattr(torch._C, f"_{name}")) for name, make in answers.items()}
    ANSWERS[:] = made.values()
    _places.clear()
    for module in _asking():
        for name, answer in made.items():
            original = getattr(torch._C, f"_{name}")
            if vars(module).get(name) is original:
                patches.put(module, name, answer)
                _places.append((module, name, original))
    # `torch.overrides` and what enters a default device have names of their own for it.
    patches.put(torch._C, "_len_torch_function_stack", _number_of_others)


@contextmanager
def answered_by_torch() -> Iterator[None]:
    """Let torch's own functions answer, for what reads the code of those that ask."""
    former = [(module, name, getattr(module, name)) for module, name, _ in _places]
    for module, name, original in _places:
        setattr(module, name, original)
    try:
        yield
    finally:
        for module, name, answer in former:
            setattr(module, name, answer)


def _asking() -> list[Any]:
    modules = [module for name, module in list(sys.modules.items()) if name.startswith("torch")]
    return [
        module
        for module in modules
        if "has_torch_function" in vars(module) or "has_torch_function_unary" in vars(module)
    ]


def is_overridden(value: Any) -> bool:
    """Whether the class of a value has an override of its own."""
    kind = type(value)
    if kind in PLAIN or kind in (int, float, bool, str, tuple, list):
        return False
    override = getattr(kind, "__torch_function__", None)
    return override is not None and override is not torch._C._disabled_torch_function_impl


def _number_of_others() -> int:
    """How many modes a program has entered: suites of tests take one that is left for a leak."""
    from runtime_guard.virtual.dispatch.mode import in_effect

    return int(torch.overrides._len_torch_function_stack()) - in_effect()


def _is_overridden_by(values: Any) -> bool:
    """Whether one of the values overrides, and no class has handed the call on already."""
    return any(map(is_overridden, values)) and torch._C._is_torch_function_enabled()


def _others_watch() -> bool:
    if torch.overrides._len_torch_function_stack() == 1:
        return False
    top = torch.overrides._get_current_function_mode_stack()
    from runtime_guard.virtual.dispatch.mode import VirtualMode

    return any(not isinstance(mode, (VirtualMode, DeviceContext)) for mode in top)


def _of_several(original: Callable[..., bool]) -> Callable[..., bool]:
    def has_torch_function(values: Any) -> bool:
        if _is_overridden_by(values) or _others_watch():
            return original(values)
        return False

    return has_torch_function


def _of_one(original: Callable[..., bool]) -> Callable[..., bool]:
    def has_torch_function_unary(value: Any) -> bool:
        if _is_overridden_by((value,)) or _others_watch():
            return original(value)
        return False

    return has_torch_function_unary


def _of_arguments(original: Callable[..., bool]) -> Callable[..., bool]:
    def has_torch_function_variadic(*values: Any) -> bool:
        if _is_overridden_by(values) or _others_watch():
            return original(*values)
        return False

    return has_torch_function_variadic


def in_backward() -> torch.device | None:
    """Inside a backward pass, the device that it began on; None outside, or if it is the CPU."""
    if torch._C._current_graph_task_id() == -1:
        return None
    roots: list[torch.device | None] = machine().passes
    return roots[-1] if roots else None

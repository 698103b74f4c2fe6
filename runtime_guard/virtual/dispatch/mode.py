"""Sees every call of torch, and hands it to what knows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

from runtime_guard.virtual.devices.machine import _machines, is_active
from runtime_guard.virtual.devices.marks import keep_on_host, mark_of
from runtime_guard.virtual.devices.storages import is_unseen
from runtime_guard.virtual.dispatch.calls import AROUND, BEFORE, HANDLERS
from runtime_guard.virtual.dispatch.overriding import PLAIN
from runtime_guard.virtual.dispatch.running import run

if TYPE_CHECKING:
    from collections.abc import Callable


class VirtualMode(TorchFunctionMode):
    """In effect in one thread; what handles a call runs with the mode switched off.

    Without a machine it does nothing: a thread may outlive the block that it began in.

    A call that a class of tensors overrides is left to that class, and seen again when the class
    hands it on: what else the class calls is then seen as well.
    """

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if not _machines:
            return func(*args, **(kwargs or {}))
        if types and not PLAIN.issuperset(types) and torch._C._is_torch_function_enabled():
            return NotImplemented
        handler = HANDLERS.get(func, run)
        if BEFORE:
            BEFORE[-1](func, args, kwargs or {})
        if AROUND:
            return AROUND[-1](handler, func, args, kwargs or {})
        return handler(func, args, kwargs or {})


def in_effect() -> bool:
    """Whether this thread's calls of torch are seen."""
    stack: list[Any] = torch.overrides._get_current_function_mode_stack()
    return any(isinstance(mode, VirtualMode) for mode in stack)


def seen(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call what a program gave to torch, and torch calls inside of an operation."""
    if not is_active() or is_unseen() or in_effect():
        return function(*args, **kwargs)
    with VirtualMode():
        return function(*args, **kwargs)


def seen_operator(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call what runs an operator in Python: what it makes that bears no mark lies on the CPU."""
    made = seen(function, *args, **kwargs)
    if is_active() and torch._C._current_graph_task_id() == -1:
        with torch._C.DisableTorchFunction():
            for leaf in tree_leaves(made):
                if isinstance(leaf, Tensor) and mark_of(leaf) is None:
                    keep_on_host(leaf)
    return made

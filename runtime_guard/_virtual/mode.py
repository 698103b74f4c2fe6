"""Sees every call of torch, and hands it to what knows it."""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from runtime_guard._virtual.calls import AROUND, HANDLERS
from runtime_guard._virtual.running import run


class VirtualMode(TorchFunctionMode):
    """In effect in one thread; what handles a call runs with the mode switched off.

    A call that a class of tensors overrides is left to that class, and seen again when the class
    hands it on: what else the class calls is then seen as well.
    """

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if types and torch._C._is_torch_function_enabled():
            return NotImplemented
        if torch._C._len_torch_dispatch_stack() and _makes_fakes():
            return func(*args, **(kwargs or {}))
        handler = HANDLERS.get(func, run)
        if AROUND:
            return AROUND[-1](handler, func, args, kwargs or {})
        return handler(func, args, kwargs or {})


def _makes_fakes() -> bool:
    """Whether tensors are made now that say themselves on which device they would be: DTensor's."""
    return torch._C._get_dispatch_mode(torch._C._TorchDispatchModeKey.FAKE) is not None

"""Sees every call of torch, and hands it to what knows it."""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from runtime_guard.virtual.devices.machine import _machines
from runtime_guard.virtual.dispatch.calls import AROUND, HANDLERS
from runtime_guard.virtual.dispatch.overriding import PLAIN
from runtime_guard.virtual.dispatch.running import run


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
        if AROUND:
            return AROUND[-1](handler, func, args, kwargs or {})
        return handler(func, args, kwargs or {})

"""Sees every call of torch, and hands it to what knows it."""

from __future__ import annotations

from typing import Any

from torch.overrides import TorchFunctionMode

from runtime_guard._virtual.calls import HANDLERS
from runtime_guard._virtual.running import run


class VirtualMode(TorchFunctionMode):
    """In effect in one thread; what handles a call runs with the mode switched off."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        return HANDLERS.get(func, run)(func, args, kwargs or {})

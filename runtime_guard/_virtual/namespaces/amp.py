"""Mixed precision: autocast of the machine's devices is carried out by that of the CPU.

Tensors of a virtual device are the CPU's to torch, so that only the CPU's autocast casts them. It
is switched with that of the device, and to the same dtype. Inside `autocast("cuda")`, then, tensors
of the CPU are cast as well, and what CUDA's autocast casts up to float32 stays as it is.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import torch

from runtime_guard._virtual.namespaces.native import speaks

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime_guard._virtual.patching import Patches


def install(patches: Patches) -> None:
    """Let the CPU's autocast go with that of the machine's devices."""
    kind = torch.amp.autocast_mode.autocast
    patches.put(kind, "__enter__", _entering(kind.__enter__))
    patches.put(kind, "__exit__", _leaving(kind.__exit__))


def _entering(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def __enter__(self: Any) -> Any:  # noqa: N807 - stands for it
        made = original(self)
        if speaks(self.device):
            state = (torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu"))
            self.__dict__.setdefault("_virtual_former", []).append(state)
            _set(self._enabled, self.fast_dtype)
        return made

    return __enter__


def _leaving(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def __exit__(self: Any, *error: Any) -> Any:  # noqa: N807 - stands for it
        if former := self.__dict__.get("_virtual_former"):
            _set(*former.pop())
        return original(self, *error)

    return __exit__


def _set(enabled: bool, dtype: torch.dtype) -> None:
    torch.set_autocast_enabled("cpu", enabled)
    torch.set_autocast_dtype("cpu", dtype)

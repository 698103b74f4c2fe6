"""Python that torch calls for each operator: what that calls is seen like the rest of the program.

Classes of tensors that wrap others define `__torch_dispatch__`, and so do modes. torch calls it
inside of an operation, where no mode of functions is in effect.
"""

from __future__ import annotations

import functools
from types import MethodType
from typing import TYPE_CHECKING, Any, Final

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from runtime_guard.virtual.devices.marks import DISPATCHING
from runtime_guard.virtual.dispatch.mode import seen

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime_guard.virtual.patching import Patches

NAME: Final = "__torch_dispatch__"

INTERNAL: Final = ("runtime_guard.", "torch._", "torch.fx.", "torch.utils.")
"""Where modes come from that are no program's."""

ASKED: Final = torch.ops.prim.device.default
"""How torch's own code asks where a tensor lies: in host memory, for its kernels."""


def install(patches: Patches) -> None:
    """Let the calls of classes be seen from their first instance on, those of modes inside them."""
    patches.at_undo(DISPATCHING.clear)
    wrapping = Tensor._make_wrapper_subclass

    def _make_wrapper_subclass(cls: Any, *args: Any, **kwargs: Any) -> Tensor:
        if cls not in DISPATCHING:
            _let_be_seen(patches, cls)
        made: Tensor = wrapping(cls, *args, **kwargs)
        return made

    patches.put(Tensor, "_make_wrapper_subclass", staticmethod(_make_wrapper_subclass))
    patches.put(TorchDispatchMode, "__enter__", _entering(TorchDispatchMode.__enter__))


def _let_be_seen(patches: Patches, cls: Any) -> None:
    owner = next((kind for kind in cls.__mro__ if NAME in vars(kind)), Tensor)
    if owner is Tensor or owner.__module__.startswith(INTERNAL):
        return
    if owner not in DISPATCHING:
        patches.put(owner, NAME, _seen_inside(vars(owner)[NAME]))
    DISPATCHING.update((owner, cls))


def _seen_inside(original: Any) -> Any:
    """The same `__torch_dispatch__`, a class method or a static one, with its calls seen."""
    kind = type(original)
    function = original.__func__ if kind in (classmethod, staticmethod) else original

    @functools.wraps(function)
    def dispatch(*args: Any, **kwargs: Any) -> Any:
        if ASKED in args[:2]:
            with torch._C.DisableTorchFunction():
                return function(*args, **kwargs)
        return seen(function, *args, **kwargs)

    return kind(dispatch) if kind in (classmethod, staticmethod) else dispatch


def _entering(enter: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @functools.wraps(enter)
    def __enter__(self: Any) -> Any:  # noqa: N807 - as the method's
        is_own = not type(self).__module__.startswith(INTERNAL)
        if is_own and NAME not in vars(self):
            dispatch = getattr(type(self), NAME)
            setattr(self, NAME, MethodType(functools.partial(_dispatched, dispatch), self))
        return enter(self)

    return __enter__


def _dispatched(dispatch: Callable[..., Any], self: Any, *args: Any, **kwargs: Any) -> Any:
    return seen(dispatch, self, *args, **kwargs)

"""Optimizers find the devices that the program sees, and are seen only where devices can mix.

They group tensors by device in C++, where no mark is seen. And they ask each parameter for its
gradient several times, which alone would take longer than the step of a small model.
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn, optim
from torch.optim import Optimizer

from runtime_guard._virtual.marks import PLAIN, device_of, mark_of, place

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime_guard._virtual.patching import Patches


def install(patches: Patches) -> None:
    """Let tensors be grouped by their devices, and gradients be gathered and dropped unseen."""
    patches.put(torch._C, "_group_tensors_by_device_and_dtype", _grouped)
    for module in list(sys.modules.values()):
        if "_default_to_fused_or_foreach" in vars(module):
            choose = vars(module)["_default_to_fused_or_foreach"]
            patches.put(module, "_default_to_fused_or_foreach", _choosing(choose))
    for holder in (Optimizer, nn.Module):
        patches.put(holder, "zero_grad", _unseen(holder.zero_grad))
    for kind in vars(optim).values():
        if isinstance(kind, type) and "_init_group" in vars(kind):
            patches.put(kind, "_init_group", _gathering(kind._init_group))  # type: ignore[attr-defined]


def _grouped(lists: list[list[Tensor | None]], with_indices: bool = False) -> dict[Any, Any]:
    """Lists of tensors by the device and dtype of the first list's, and the places they had."""
    groups: dict[Any, tuple[list[list[Tensor | None]], list[int]]] = {}
    with torch._C.DisableTorchFunction():
        keys = [(device_of(first), first.dtype) for first in lists[0] if first is not None]
    for place_, key in enumerate(keys):
        members, places = groups.setdefault(key, ([[] for _ in lists], []))
        for kept, given in zip(members, lists, strict=True):
            if given:
                kept.append(given[place_])
        places.append(place_)
    return {
        key: (members, places if with_indices else []) for key, (members, places) in groups.items()
    }


def _choosing(choose: Callable[..., tuple[bool, bool]]) -> Callable[..., tuple[bool, bool]]:
    @functools.wraps(choose)
    def _default_to_fused_or_foreach(
        params: list[Tensor | None], *args: Any, **kwargs: Any
    ) -> tuple[bool, bool]:
        """Ask one parameter of each kind, for all that are like it."""
        with torch._C.DisableTorchFunction():
            kinds = {(type(p), mark_of(p), p.dtype): p for p in params if p is not None}
        return choose(list(kinds.values()), *args, **kwargs)

    return _default_to_fused_or_foreach


def _unseen(zero_grad: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(zero_grad)
    def zero_grad_unseen(*args: Any, **kwargs: Any) -> None:
        with torch._C.DisableTorchFunction():
            zero_grad(*args, **kwargs)

    return zero_grad_unseen


def _gathering(init_group: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(init_group)
    def init_group_unseen(optimizer: Any, group: dict[str, Any], *lists: Any, **named: Any) -> Any:
        with torch._C.DisableTorchFunction():
            if _only_gathers(optimizer, group):
                return init_group(optimizer, group, *lists, **named)
        return init_group(optimizer, group, *lists, **named)

    return init_group_unseen


def _only_gathers(optimizer: Any, group: dict[str, Any]) -> bool:
    """Whether gradients and state are there already; then each gradient lies with its parameter."""
    if group.get("fused") or any(type(each) not in PLAIN for each in group["params"]):
        return False
    stateless = isinstance(optimizer, optim.SGD)
    for parameter in group["params"]:
        gradient, device = parameter.grad, mark_of(parameter)
        if gradient is not None and device is not None:
            place(gradient, device)
        if gradient is not None and not (stateless or optimizer.state.get(parameter)):
            return False
    return True

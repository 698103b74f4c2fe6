"""Optimizers find the devices that the program sees, and are seen only where devices can mix.

They group tensors by device in C++, where no mark is seen. And they ask each parameter for its
gradient several times, which alone would take longer than the step of a small model.
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any, Final

import torch
from torch import Tensor, nn, optim
from torch.optim import Optimizer

from runtime_guard.virtual.devices.machine import CPU
from runtime_guard.virtual.devices.marks import PLAIN, device_of, place
from runtime_guard.virtual.dispatch.running import common_device

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime_guard.virtual.patching import Patches

APART: Final = (
    "Tensors of the same index must be on the same device and the same dtype except `step` tensors "
    "that can be CPU and float32/64, and optimizer states that can be bfloat16 for mixed-precision "
    "training"
)
"""What torch's own grouping says, word for word."""

WIDER: Final = (torch.float32, torch.float64)


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


def _are_alike(tensors: list[Tensor]) -> bool:
    """Whether all are of one class, one dtype and one device."""
    return len({(type(each), each.dtype) for each in tensors}) == 1 and (
        common_device(tensors) is not ...
    )


def _grouped(lists: list[list[Tensor | None]], with_indices: bool = False) -> dict[Any, Any]:
    """Lists of tensors by the device and dtype of the first list's, and the places they had.

    Raises:
        RuntimeError: a tensor of another list does not go with the one of the first list.
    """
    groups: dict[Any, tuple[list[list[Tensor | None]], list[int]]] = {}
    with torch._C.DisableTorchFunction():
        first = [tensor for tensor in lists[0] if tensor is not None]
        if not all(_go_together(first, others) for others in lists[1:]):
            raise RuntimeError(APART)
        if _are_alike(first):
            places = list(range(len(first))) if with_indices else []
            return {(device_of(first[0]), first[0].dtype): (list(map(list, lists)), places)}
        keys = [(device_of(tensor), tensor.dtype) for tensor in first]
    for place_, key in enumerate(keys):
        members, places = groups.setdefault(key, ([[] for _ in lists], []))
        for kept, given in zip(members, lists, strict=True):
            if given:
                kept.append(given[place_])
        places.append(place_)
    return {
        key: (members, places if with_indices else []) for key, (members, places) in groups.items()
    }


def _go_together(first: list[Tensor], others: list[Tensor | None]) -> bool:
    """Whether each is where its parameter is, or a number of steps, which may be on the CPU."""
    pairs = [(one, other) for one, other in zip(first, others, strict=False) if other is not None]
    return all(
        other.dtype in (one.dtype, *WIDER, torch.bfloat16)
        if device_of(other) == device_of(one)
        else other.dtype in WIDER and device_of(other) == CPU
        for one, other in pairs
    )


def _choosing(choose: Callable[..., tuple[bool, bool]]) -> Callable[..., tuple[bool, bool]]:
    @functools.wraps(choose)
    def _default_to_fused_or_foreach(
        params: list[Tensor | None], *args: Any, **kwargs: Any
    ) -> tuple[bool, bool]:
        """Ask one parameter, where all are like it."""
        with torch._C.DisableTorchFunction():
            given = [each for each in params if each is not None]
            asked = given[:1] if _are_alike(given) else given
        return choose(asked, *args, **kwargs)

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
    parameters = group["params"]
    if group.get("fused") or any(type(each) not in PLAIN for each in parameters):
        return False
    trained = [each for each in parameters if each.grad is not None]
    if common_device([*trained, *(each.grad for each in trained)]) is ...:
        for each in trained:
            place(each.grad, device_of(each))
    return isinstance(optimizer, optim.SGD) or all(map(optimizer.state.get, trained))

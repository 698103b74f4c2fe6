"""Indexing and assigning to indices, which Python's own operators do outside any operator."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from runtime_guard.virtual.devices.machine import CPU
from runtime_guard.virtual.devices.marks import place
from runtime_guard.virtual.dispatch import texts
from runtime_guard.virtual.dispatch.calls import handles
from runtime_guard.virtual.dispatch.getters import seen_device
from runtime_guard.virtual.dispatch.overriding import in_backward


@handles(Tensor.__getitem__)
def _getitem(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tensor, index = args
    if not isinstance(tensor, Tensor):
        return func(*args, **kwargs)
    device = seen_device(tensor)
    check_indices(device, index)
    made = func(*args, **kwargs)
    return made if device == CPU else place(made, device)


@handles(Tensor.__setitem__)
def _setitem(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    tensor, index, value = args
    device = seen_device(tensor)
    if isinstance(value, Tensor) and any(_is_advanced(part) for part in _parts(index)):
        given = seen_device(value)
        if (
            given != device
            and value.dim()
            and not (_fills(device, index, value) or _anywhere(value))
        ):
            common = given if device == CPU else device
            raise RuntimeError(texts.several(common, device if device == CPU else given))
    func(*args, **kwargs)


def _fills(device: torch.device, index: Any, value: Tensor) -> bool:
    """Whether one number is put wherever a mask is true, as `canDispatchToMaskedFill` of ATen says.

    A number without dimensions may come from anywhere, whatever the index.
    """
    masks = [part for part in _parts(index) if _is_advanced(part)]
    if len(masks) != 1 or masks[0].dtype not in (torch.bool, torch.uint8):
        return False
    lie = bool(seen_device(value) == CPU and seen_device(masks[0]) == device)
    return lie and value.numel() == 1


def check_indices(device: torch.device, index: Any) -> None:
    """Refuse an index that lies neither on the CPU nor with what it reads.

    An integer without dimensions is read as a number, wherever it lies.  Where an index is
    assigned through, ATen brings it to the tensor and asks nothing.

    Raises:
        RuntimeError: with the text of `check_indices_on_cpu_or_selfdevice` in ATen.
    """
    for part in _parts(index):
        if _is_advanced(part) and seen_device(part) not in (CPU, device) and not _anywhere(part):
            raise RuntimeError(texts.index(device))


def _parts(index: Any) -> list[Any]:
    if isinstance(index, (tuple, list)):
        return [part for inner in index for part in _parts(inner)]
    return [index]


def _is_advanced(part: Any) -> bool:
    if not isinstance(part, Tensor):
        return False
    return part.dim() > 0 or part.dtype in (torch.bool, torch.uint8)


def _anywhere(tensor: Tensor) -> bool:
    from runtime_guard.virtual.devices.marks import mark_of

    return in_backward() is not None and mark_of(tensor) is None

"""Optimizers group their tensors by device, in C++, where no mark is seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from runtime_guard._virtual.marks import device_of

if TYPE_CHECKING:
    from runtime_guard._virtual.patching import Patches


def install(patches: Patches) -> None:
    """Let them be grouped by the devices that the program sees."""
    patches.put(torch._C, "_group_tensors_by_device_and_dtype", _grouped)


def _grouped(lists: list[list[Tensor | None]], with_indices: bool = False) -> dict[Any, Any]:
    """Lists of tensors by the device and dtype of the first list's, and the places they had."""
    groups: dict[Any, tuple[list[list[Tensor | None]], list[int]]] = {}
    for place, first in enumerate(lists[0]):
        assert first is not None
        key = (device_of(first), first.dtype)
        members, places = groups.setdefault(key, ([[] for _ in lists], []))
        for kept, given in zip(members, lists, strict=True):
            if given:
                kept.append(given[place])
        places.append(place)
    return {
        key: (members, places if with_indices else []) for key, (members, places) in groups.items()
    }

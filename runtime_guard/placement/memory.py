"""What a tensor takes, and whether another one lies in the same memory."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

import torch

from runtime_guard.mismatch import TensorFacts


def facts_of(tensor: Any) -> TensorFacts:
    """Describe a tensor; of one that torch.distributed spreads, the bytes that lie here.

    The length of a dimension that has none, such as that of the rows of a nested tensor, is -1.
    """
    try:
        shape = tuple(length if type(length) is int else -1 for length in tensor.shape)
    except RuntimeError:  # The older kind of nested tensor.
        shape = ()
    here = _here(tensor)
    size = here.numel() * here.element_size()
    return TensorFacts(str(here.device), shape, str(tensor.dtype), size)


def _here(tensor: Any) -> Any:
    if not hasattr(tensor, "device_mesh"):
        return tensor
    with torch.no_grad():
        return tensor.to_local()


class _Region(NamedTuple):
    path: str
    first: int
    end: int


class Memory:
    """Remembers the memory of the tensors it has been shown, and keeps it alive meanwhile."""

    def __init__(self) -> None:
        self._storages: dict[int, Any] = {}
        self._regions: defaultdict[int, list[_Region]] = defaultdict(list)

    def already_held(self, path: str, tensor: Any) -> str:
        """Return the path of an earlier tensor whose memory holds all of this one, or nothing."""
        here = _here(tensor)
        if here.layout != torch.strided or here.is_nested:
            return ""  # It has several, inside.
        storage = here.untyped_storage()
        self._storages[id(storage)] = storage
        mine = _region(path, here)
        for other in self._regions[id(storage)]:
            if mine.end > mine.first >= other.first and mine.end <= other.end:
                return other.path
        self._regions[id(storage)].append(mine)
        return ""


def _region(path: str, tensor: Any) -> _Region:
    """The bytes of its storage between the first element and the end of the last."""
    first = tensor.storage_offset() * tensor.element_size()
    if tensor.numel() == 0:
        return _Region(path, first, first)
    strides = zip(tensor.shape, tensor.stride(), strict=True)
    last = sum((length - 1) * stride for length, stride in strides)
    return _Region(path, first, first + (last + 1) * tensor.element_size())

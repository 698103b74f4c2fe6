"""What torch had when many of the scripts were written, and has no more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def after_import(torch: Any) -> None:
    """Let `loss.data[0]`, `iter(loader).next()` and some names of arguments work."""
    data = torch.utils.data
    for kind in ("_SingleProcessDataLoaderIter", "_MultiProcessingDataLoaderIter"):
        iterator = getattr(data.dataloader, kind)
        iterator.next = iterator.__next__
    _index_numbers(torch.Tensor)
    _rename(torch.Tensor, "backward", {"retain_variables": "retain_graph"})
    data.TensorDataset.__init__ = _positional(data.TensorDataset.__init__)


def _rename(owner: Any, method: str, names: Mapping[str, str]) -> None:
    """Let a method take arguments by the names that they had."""
    original = getattr(owner, method)

    def renamed(*args: Any, **kwargs: Any) -> Any:
        given = {names.get(name, name): value for name, value in kwargs.items()}
        return original(*args, **given)

    setattr(owner, method, renamed)


def _positional(original: Any) -> Any:
    def taken(*args: Any, **kwargs: Any) -> Any:
        return original(*args, *kwargs.values())

    return taken


def _index_numbers(tensor: Any) -> None:
    """Let index 0 of a tensor without dimensions give its number, as that of one with one did."""
    original = tensor.__getitem__

    def getitem(self: Any, index: Any) -> Any:
        if type(index) is int and index == 0 and self.dim() == 0:
            return self.item()
        return original(self, index)

    tensor.__getitem__ = getitem

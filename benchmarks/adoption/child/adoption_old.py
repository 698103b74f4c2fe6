"""What torch had when many of the scripts were written, and has no more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def after_import(torch: Any) -> None:
    """Let `iter(loader).next()` and some names of arguments work."""
    data = torch.utils.data
    for kind in ("_SingleProcessDataLoaderIter", "_MultiProcessingDataLoaderIter"):
        iterator = getattr(data.dataloader, kind)
        iterator.next = iterator.__next__
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

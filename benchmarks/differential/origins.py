"""Remembers of every tensor which lines of the program made it, and which asked it to move.

The note is kept on the storage, which views, parameters and `.data` share: what is made anew on
another device has a storage of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from types import FrameType
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

_NOTE = "_differential_history"
_MOVES = frozenset({"to", "cuda", "cpu", "type", "__set__", "pin_memory", "requires_grad_"})
"""Calls that ask something of a tensor which stays where it is: they are part of its history."""
_MOST = 200
"""So many tensors of one call are looked at."""


@dataclass
class History:
    """The lines that had to do with where a tensor lies.

    Attributes:
        made: where it was made, put in its place, or asked to move.
        callers: the lines that called the function in which that happened.
    """

    made: set[int] = field(default_factory=set)
    callers: set[int] = field(default_factory=set)


class Origins(TorchFunctionMode):
    """Notes where tensors are made, and which of them the failing call was given.

    Args:
        file: the program, as its code names it.
    """

    def __init__(self, file: str) -> None:
        super().__init__()
        self._file = file
        self.operation = ""
        self.operands = History()

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        try:
            result = func(*args, **kwargs)
        except Exception:
            self._keep(func, args, kwargs)
            raise
        name = getattr(func, "__name__", "")
        self._note((args, kwargs), again=name in _MOVES)
        self._note(result, again=False)
        return result

    def _note(self, values: Any, *, again: bool) -> None:
        lines: list[int] | None = None
        for storage in _storages(values):
            history = getattr(storage, _NOTE, None)
            if history is not None and not again:
                continue
            if lines is None:
                lines = self._lines(sys._getframe(2))
            if history is None:
                history = History()
                setattr(storage, _NOTE, history)
            history.made.update(lines[:1])
            history.callers.update(lines[1:])

    def _keep(self, func: Any, args: Any, kwargs: Any) -> None:
        """Keep what is known of the operands of a call that raises; the last such call counts."""
        self._note((args, kwargs), again=False)
        self.operation = getattr(func, "__name__", "")
        self.operands = History()
        for storage in _storages((args, kwargs)):
            history = getattr(storage, _NOTE)
            self.operands.made |= history.made
            self.operands.callers |= history.callers

    def _lines(self, frame: FrameType | None) -> list[int]:
        """The lines of the program that are running, the innermost first."""
        lines = []
        while frame is not None:
            if frame.f_code.co_filename == self._file:
                lines.append(frame.f_lineno)
            frame = frame.f_back
        return lines


def _storages(values: Any) -> Iterator[torch.UntypedStorage]:
    with torch._C.DisableTorchFunction():
        found = list(islice(_tensors(values), _MOST))
        storages = [_storage(tensor) for tensor in found]
    yield from (storage for storage in storages if storage is not None)


def _storage(tensor: Tensor) -> torch.UntypedStorage | None:
    try:
        return tensor.untyped_storage()
    except (NotImplementedError, RuntimeError):  # A sparse tensor has none.
        return None


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _tensors(each)
    elif isinstance(value, dict):
        for each in value.values():
            yield from _tensors(each)

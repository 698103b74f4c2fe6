"""The losses of a process: what each backward pass begins at, to the last bit."""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor

from runtime_guard.mutation.plan import Loss
from runtime_guard.patch import Link

MOST = 10_000
"""So many are kept; a training that is not ended after a few steps has more."""

NO_BYTES = (NotImplementedError, RuntimeError, TypeError)
"""What a tensor raises whose bytes cannot be had, such as a sparse one."""


class Losses:
    """Keeps what `backward` is called on, for the step that is made next.

    Args:
        begin: called with what each call begins at, before it is kept.
    """

    def __init__(self, begin: Callable[[Sequence[Tensor]], None]) -> None:
        self.kept: list[Loss] = []
        self._begin = begin
        self._waiting: list[tuple[str, str]] = []
        Link(torch.autograd, "backward", self._backward)

    def forget(self) -> None:
        """Begin anew; what waits for a step is this process's own."""
        self.kept = []

    def end_step(self, step: int, parameters: Iterable[Tensor] = ()) -> None:
        """Keep what a step was made with: its gradients, where nothing called `backward`."""
        if not self._waiting:
            gradients = [each.grad for each in parameters if each.grad is not None]
            self._see(gradients, lambda: "other gradients")
        if len(self.kept) < MOST:
            self.kept += [Loss(step, *each) for each in self._waiting]
        self._waiting = []

    def _backward(self, backward: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        given = args[0] if args else kwargs.get("tensors")
        tensors = (given,) if isinstance(given, Tensor) else tuple(given or ())
        self._begin(tensors)
        self._see(tensors, lambda: ", ".join(map(_shown, tensors)))
        return backward(*args, **kwargs)

    def _see(self, tensors: Sequence[Tensor], shown: Callable[[], str]) -> None:
        if tensors and len(self._waiting) < MOST:
            with suppress(*NO_BYTES):
                digest = digest_of(tensors)
                self._waiting.append((shown(), digest))


def digest_of(tensors: Iterable[Tensor]) -> str:
    """A word that is the same for the same values alone; empty where there are none.

    Raises:
        NotImplementedError, RuntimeError, TypeError: a tensor's bytes cannot be had.
    """
    found, some = hashlib.sha256(), False
    for each in tensors:
        some = True
        found.update(_bytes_of(each))
    return found.hexdigest() if some else ""


def _bytes_of(tensor: Tensor) -> bytes:
    """The values of a tensor; without numpy, which need not be there."""
    values = tensor.detach().cpu().contiguous()
    return ctypes.string_at(values.data_ptr(), values.numel() * values.element_size())


def _shown(tensor: Tensor) -> str:
    """The number that a loss is; of several, their sum."""
    values = tensor.detach().cpu()
    if values.numel() == 1:
        return repr(values.item())
    return f"{values.double().sum().item()!r} in {values.numel()}"

"""How long a copy kept the device busy, asked of the device without ever waiting for it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor

MOVES = frozenset({"Tensor.to", "Tensor.cuda", "Tensor.cpu", "Tensor.copy_"})


class Timing:
    """A copy between two marks on the current stream of a CUDA device."""

    def __init__(self, device: torch.device) -> None:
        self._stream = torch.cuda.current_stream(device)
        self._first = torch.cuda.Event(enable_timing=True)
        self._last = torch.cuda.Event(enable_timing=True)
        self._first.record(self._stream)

    def stop(self) -> None:
        """Put the second mark behind the copy."""
        self._last.record(self._stream)

    def read(self) -> float | None:
        """Return the time in microseconds; None while the device has not come so far."""
        if not self._last.query():
            return None
        return max(0.0, float(self._first.elapsed_time(self._last)) * 1000)


def started(op: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Timing | None:
    """Begin to time a call, if it will copy to or from a CUDA device; CUDA is in use."""
    if op not in MOVES:
        return None
    device = _busy_device(op, args, kwargs)
    # What is captured is not carried out, and cannot be timed.
    if device is None or torch.cuda.is_current_stream_capturing():
        return None
    with suppress(RuntimeError):
        return Timing(device)
    return None


def _busy_device(op: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> torch.device | None:
    here = args[0].device if isinstance(args[0], Tensor) else None
    there = _other_device(op, args[1:], kwargs)
    if here is None or there is None or there.type == here.type == "cpu":
        return None
    if there.type == here.type and there.index in (None, here.index):
        return None
    return next((each for each in (here, there) if each.type == "cuda"), None)


def _other_device(op: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> torch.device | None:
    if op == "Tensor.cpu":
        return torch.device("cpu")
    first = args[0] if args else None
    named = kwargs.get("device", kwargs.get("other", kwargs.get("src", first)))
    if isinstance(named, Tensor):
        return named.device
    if isinstance(named, str | int | torch.device):
        with suppress(RuntimeError):
            # A wrong one is for the call itself to reject.
            return torch.device("cuda", named) if isinstance(named, int) else torch.device(named)
    return torch.device("cuda") if op == "Tensor.cuda" and named is None else None

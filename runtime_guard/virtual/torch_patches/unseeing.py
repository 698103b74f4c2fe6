"""Work that torch does as outside the block, on tensors of the CPU."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

from runtime_guard.virtual.devices.storages import seen_plainly
from runtime_guard.virtual.dispatch.overriding import answered_by_torch

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def unseen() -> Iterator[None]:
    """Let torch work as it does outside the block, on tensors of the CPU."""
    from runtime_guard.virtual.dispatch.mode import VirtualMode

    modes = _taken_out()
    _put_in([mode for mode in modes if not isinstance(mode, VirtualMode)])
    try:
        with seen_plainly(), answered_by_torch():
            yield
    finally:
        _taken_out()
        _put_in(modes)


def _taken_out() -> list[Any]:
    modes: list[Any] = torch.overrides._get_current_function_mode_stack()
    for _ in modes:
        torch.overrides._pop_mode()
    return modes


def _put_in(modes: list[Any]) -> None:
    for mode in modes:
        torch.overrides._push_mode(mode)

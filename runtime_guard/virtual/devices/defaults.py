"""The default device: what a program set inside the block does not outlive it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch.utils import _device

if TYPE_CHECKING:
    from runtime_guard.virtual.patching import Patches


def install(patches: Patches) -> None:
    """Let the default device be what it was, when the block ends."""
    former = _device.CURRENT_DEVICE

    def give_back() -> None:
        if former != _device.CURRENT_DEVICE:
            torch.set_default_device(former)

    patches.at_reset(give_back)

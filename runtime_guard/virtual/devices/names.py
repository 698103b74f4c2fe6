"""Which device a word of a program means on the virtual machine."""

from __future__ import annotations

from typing import Any

import torch

from runtime_guard.virtual.devices.machine import CPU, NAMES, machine

NOT_COMPILED = {
    "cuda": "Torch not compiled with CUDA enabled",
    "xpu": "Torch not compiled with XPU enabled",
    "mps": "PyTorch is not linked with support for mps devices",
}
"""What torch says of an accelerator that the machine has not."""

INVALID_ORDINAL = """\
CUDA error: invalid device ordinal
GPU device may be out of range, do you have enough GPUs?
CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace \
below might be incorrect.
For debugging consider passing CUDA_LAUNCH_BLOCKING=1
Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.
"""


def resolved(device: Any) -> torch.device:
    """The device that a string, an index or a device names; without an index, the current one.

    Raises:
        AssertionError: the machine has no accelerator of this name.
        RuntimeError: it has none of this index, or the string names no device.
    """
    if type(device) is int:
        return ordinal(device)
    if not isinstance(device, torch.device):
        device = torch.device(device)
    if device.type not in NAMES:
        return CPU if device.type == "cpu" else device
    if device.type != machine().name:
        refused = AssertionError if device.type != "mps" else RuntimeError
        raise refused(NOT_COMPILED[device.type])
    return ordinal(machine().current if device.index is None else device.index)


def ordinal(index: int) -> torch.device:
    """The machine's device of this index.

    Raises:
        torch.AcceleratorError: there is none.
    """
    here = machine()
    if not 0 <= index < len(here.devices):
        if here.name == "cuda":
            raise accelerator_error(INVALID_ORDINAL)
        count = len(here.devices)
        raise RuntimeError(f"device index {index} is out of range, there are {count} {here.name}")
    return here.devices[index]


def accelerator_error(text: str) -> RuntimeError:
    """The error of a runtime call; older releases of torch raise a plain RuntimeError."""
    kind: type[RuntimeError] = getattr(torch, "AcceleratorError", RuntimeError)
    return kind(text)


def is_virtual(device: torch.device) -> bool:
    """Whether the device is one of the machine's accelerators."""
    return bool(device.type == machine().name)

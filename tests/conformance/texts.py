"""The texts of CUDA's errors about devices, as patterns; where versions differ, a family."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch

_SAME = "Expected all tensors to be on the same device, but "

ANY = "Expected all tensors to be on the same device"
"""For where the operator that notices it first depends on the machine."""

INDEX = re.escape(
    "indices should be either on cpu or on the same device as the indexed tensor (cpu)"
)
NUMPY = re.escape(
    "can't convert cuda:0 device type tensor to numpy. "
    "Use Tensor.cpu() to copy the tensor to host memory first."
)


def elementwise(one: str = "cuda:0", other: str = "cpu") -> str:
    """What a TensorIterator operator says of two devices."""
    return re.escape(f"{_SAME}found at least two devices, {one} and {other}!")


def exact(argument: str, device: str, others: str, method: str) -> str:
    """What an operator says whose every tensor argument must be on one device.

    Args:
        argument: the first one that differs, by its name in the schema.
        device: where it is.
        others: where those before it are.
        method: the name of the operator's wrapper, without `wrapper_CUDA_`.
    """
    now = (
        f"{_SAME}got {argument} is on {device}, different from other tensors on {others} "
        f"(when checking argument in method wrapper_CUDA_{method})"
    )
    before = (
        f"{_SAME}found at least two devices, {others} and {device}! "
        f"(when checking argument for argument {argument} in method wrapper_CUDA_{method})"
    )
    if version() >= (2, 11):
        return re.escape(now)
    return f"{re.escape(now)}|{re.escape(before)}"


def differs(argument: str, device: str, others: str) -> str:
    """As `exact`, where the operator's name depends on the machine."""
    now = f"{_SAME}got {argument} is on {device}, different from other tensors on {others} "
    before = f"{_SAME}found at least two devices, {others} and {device}! "
    if version() >= (2, 11):
        return re.escape(now)
    return f"{re.escape(now)}|{re.escape(before)}"


def version() -> tuple[int, int]:
    """Torch's major and minor version."""
    major, minor = torch.__version__.split(".")[:2]
    return int(major), int(minor)


def refused(
    call: Callable[[], Any],
    text: str,
    kind: type[BaseException] | tuple[type[BaseException], ...] = RuntimeError,
) -> None:
    """Check that a call raises an error whose text matches."""
    with pytest.raises(kind, match=text):
        call()

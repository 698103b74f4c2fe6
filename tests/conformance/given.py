"""What the checks are given: tensors on either side, and tables of calls that are alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch
from torch.nn.utils.rnn import PackedSequence
from torch.utils._pytree import tree_leaves

CPU = torch.device("cpu")
GPU = torch.device("cuda", 0)
SECOND = torch.device("cuda", 1)


def gpu(*shape: int, on: torch.device | str = GPU, grad: bool = False) -> torch.Tensor:
    """Numbers from 0.5 to 1.5 on a CUDA device, the first if nothing else is said."""
    return torch.rand(shape, device=on).add_(0.5).requires_grad_(grad)


def cpu(*shape: int, grad: bool = False) -> torch.Tensor:
    """Numbers from 0.5 to 1.5 on the CPU."""
    return torch.rand(shape).add_(0.5).requires_grad_(grad)


def ids(*values: Any, on: torch.device | str = GPU) -> torch.Tensor:
    """Whole numbers, or truth values, on a device, the first CUDA one if nothing else is said."""
    return torch.tensor(list(values), device=on)


def places(value: Any) -> set[str]:
    """The devices of all the tensors in a value: `{"cuda:0"}`."""
    if isinstance(value, PackedSequence):
        return {str(value.data.device)}
    return {str(leaf.device) for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor)}


def each(table: Mapping[str, Any]) -> Callable[[Any], Any]:
    """Let a test be done with each row of a table, under its sentence; the test takes `row`."""
    return pytest.mark.parametrize("row", table.values(), ids=table.keys())

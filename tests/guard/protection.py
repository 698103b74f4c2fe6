"""What the tests of the interactions share: both ways to guard, and a model to guard."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import runtime_guard
from runtime_guard.hooks.checking import Checking


def by_guard(model: nn.Module, **options) -> Checking:
    return runtime_guard.guard(model, **options)


def by_install(_model: nn.Module, **options) -> Checking:
    return runtime_guard.install(**options)


both = pytest.mark.parametrize("protect", [by_guard, by_install], ids=["guard", "install"])


class Net(nn.Module):
    """A small model that takes a batch in every usual form."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.ReLU())
        self.head = nn.Linear(4, 2)

    def forward(self, batch, *, scale=None):
        if isinstance(batch, dict):
            batch = batch["image"]
        if isinstance(batch, (list, tuple)):
            batch = batch[0]
        out = self.head(self.body(batch))
        return out if scale is None else out * scale


def image(device: str = "cpu") -> torch.Tensor:
    return torch.linspace(-1, 1, 12).reshape(3, 4).to(device)

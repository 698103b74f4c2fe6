"""Propagation: default devices, by context and for good."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader

from tests.conformance.given import CPU, GPU, cpu, each, places

MADE = {
    "zeros": lambda: torch.zeros(2),
    "tensor": lambda: torch.tensor([1.0]),
    "arange": lambda: torch.arange(3),
    "randn": lambda: torch.randn(2),
    "randperm": lambda: torch.randperm(3),
    "eye": lambda: torch.eye(2),
    "as_tensor": lambda: torch.as_tensor([1.0]),
    "as_tensor of an array": lambda: torch.as_tensor(np.ones(2)),
    "a layer": lambda: nn.Linear(2, 2).weight,
    "a buffer": lambda: nn.BatchNorm1d(2).running_var,
}


@each(MADE)
def test_it_is_made_on_the_device_of_the_context(row):
    with torch.device("cuda"):
        made = row()
    assert made.device == GPU


@each(MADE)
def test_it_is_made_on_the_default_device(row):
    torch.set_default_device("cuda")
    try:
        made = row()
    finally:
        torch.set_default_device(None)
    assert made.device == GPU
    assert row().device == CPU


UNMOVED = {
    "from_numpy": lambda: torch.from_numpy(np.ones(2)),
    "an explicit device": lambda: torch.zeros(2, device="cpu"),
    "like a CPU tensor": lambda: torch.zeros_like(torch.zeros(2, device="cpu")),
    "new_zeros of a CPU tensor": lambda: torch.zeros(2, device="cpu").new_zeros(2),
}


@each(UNMOVED)
def test_it_is_not_moved_by_the_context(row):
    with torch.device("cuda"):
        made = row()
    assert made.device == CPU


def test_contexts_nest():
    with torch.device("cuda"):
        with torch.device("cpu"):
            inner = torch.zeros(1)
        outer = torch.zeros(1)
    assert (inner.device, outer.device, torch.zeros(1).device) == (CPU, GPU, CPU)


def test_a_context_ends_with_an_error():
    with pytest.raises(ValueError, match="inside"), torch.device("cuda"):
        raise ValueError("inside")
    assert torch.zeros(1).device == CPU


def test_a_context_may_be_entered_twice():
    device = torch.device("cuda")
    with device, device:
        assert torch.zeros(1).device == GPU
    assert torch.zeros(1).device == CPU


def test_a_context_wins_over_the_default():
    torch.set_default_device("cuda")
    try:
        with torch.device("cpu"):
            assert torch.zeros(1).device == CPU
    finally:
        torch.set_default_device(None)


def test_the_default_is_told():
    assert torch.get_default_device() == CPU
    torch.set_default_device("cuda")
    try:
        assert torch.get_default_device() == GPU
    finally:
        torch.set_default_device(None)


def test_the_context_is_told():
    with torch.device("cuda"):
        assert torch.get_default_device() == GPU


def test_a_model_is_made_and_run_in_the_context():
    with torch.device("cuda"):
        model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
        answer = model(torch.rand(4, 2))
    assert places([answer, list(model.parameters())]) == {"cuda:0"}


def test_a_shuffling_loader_meets_its_cpu_generator_in_the_context():
    with (
        torch.device("cuda"),
        pytest.raises(RuntimeError, match="Expected a 'cuda' device type for generator but found"),
    ):
        list(DataLoader(range(4), shuffle=True))


def test_a_loader_in_order_makes_its_batches_on_the_device_of_the_context():
    with torch.device("cuda"):
        batch = next(iter(DataLoader([1.0, 2.0], batch_size=2)))
    assert batch.device == GPU


def test_tensors_of_before_stay():
    before = cpu(2)
    with torch.device("cuda"):
        assert (before + 1).device == CPU


def test_meta_is_a_device_too():
    with torch.device("meta"):
        layer = nn.Linear(2, 2)
    assert layer.weight.is_meta

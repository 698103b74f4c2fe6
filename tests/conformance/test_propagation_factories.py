"""Propagation: where new tensors are made."""

import numpy as np
import pytest
import torch
from torch import nn

from tests.conformance.given import CPU, GPU, cpu, each, gpu, ids, places

DEVICES = {
    "a name": "cuda",
    "a name with an index": "cuda:0",
    "a device": torch.device("cuda"),
    "a device with an index": torch.device("cuda", 0),
    "a number": 0,
}


@each(DEVICES)
def test_a_factory_takes(row):
    assert torch.zeros(2, device=row).device == GPU


FACTORIES = {
    "empty": lambda d: torch.empty(2, 3, device=d),
    "empty_strided": lambda d: torch.empty_strided((2, 3), (1, 2), device=d),
    "zeros": lambda d: torch.zeros((2, 3), device=d),
    "ones": lambda d: torch.ones(2, dtype=torch.long, device=d),
    "full": lambda d: torch.full((2,), 7, device=d),
    "eye": lambda d: torch.eye(3, device=d),
    "arange": lambda d: torch.arange(5, device=d),
    "arange with a step": lambda d: torch.arange(0, 1, 0.25, device=d),
    "linspace": lambda d: torch.linspace(0, 1, 5, device=d),
    "logspace": lambda d: torch.logspace(0, 1, 5, device=d),
    "rand": lambda d: torch.rand(2, device=d),
    "randn": lambda d: torch.randn(2, 2, device=d),
    "randint": lambda d: torch.randint(0, 10, (2,), device=d),
    "randperm": lambda d: torch.randperm(4, device=d),
    "normal": lambda d: torch.normal(0.0, 1.0, (2,), device=d),
    "tensor": lambda d: torch.tensor([1, 2], device=d),
    "tensor of a number": lambda d: torch.tensor(1.5, device=d),
    "tensor of an array": lambda d: torch.tensor(np.ones(2), device=d),
    "as_tensor": lambda d: torch.as_tensor([1.0], device=d),
    "as_tensor of an array": lambda d: torch.as_tensor(np.ones(2), device=d),
    "as_tensor of a CPU tensor": lambda d: torch.as_tensor(cpu(2), device=d),
    "asarray": lambda d: torch.asarray([1.0], device=d),
    "asarray of a CPU tensor": lambda d: torch.asarray(cpu(2), device=d),
    "scalar_tensor": lambda d: torch.scalar_tensor(1.0, device=d),
    "tril_indices": lambda d: torch.tril_indices(3, 3, device=d),
    "triu_indices": lambda d: torch.triu_indices(3, 3, device=d),
    "hann_window": lambda d: torch.hann_window(4, device=d),
    "fft.fftfreq": lambda d: torch.fft.fftfreq(4, device=d),
    "zeros_like of a CPU tensor": lambda d: torch.zeros_like(cpu(2), device=d),
    "rand_like of a CPU tensor": lambda d: torch.rand_like(cpu(2), device=d),
    "new_zeros of a CPU tensor": lambda d: cpu(2).new_zeros(2, device=d),
    "new_tensor of a CPU tensor": lambda d: cpu(2).new_tensor([1.0], device=d),
    "a layer": lambda d: nn.Linear(2, 2, device=d).weight,
    "an embedding": lambda d: nn.Embedding(2, 2, device=d).weight,
    "a buffer of a layer": lambda d: nn.BatchNorm1d(2, device=d).running_mean,
    "an LSTM": lambda d: nn.LSTM(2, 2, device=d).weight_hh_l0,
    "attention": lambda d: nn.MultiheadAttention(2, 1, device=d).in_proj_weight,
}


@each(FACTORIES)
def test_it_is_made_on_cuda_where_asked_for(row):
    assert row("cuda").device == GPU


@each(FACTORIES)
def test_it_is_made_on_the_cpu_where_asked_for(row):
    assert row("cpu").device == CPU


LIKE = {
    "empty_like": torch.empty_like,
    "zeros_like": torch.zeros_like,
    "ones_like": torch.ones_like,
    "full_like": lambda t: torch.full_like(t, 2),
    "rand_like": torch.rand_like,
    "randn_like": torch.randn_like,
    "randint_like": lambda t: torch.randint_like(t, 10),
    "zeros_like of another dtype": lambda t: torch.zeros_like(t, dtype=torch.long),
    "new_empty": lambda t: t.new_empty(2),
    "new_zeros": lambda t: t.new_zeros(2, 2),
    "new_ones": lambda t: t.new_ones(2),
    "new_full": lambda t: t.new_full((2,), 3.0),
    "new_tensor": lambda t: t.new_tensor([1.0, 2.0]),
    "new": lambda t: t.new(2),
    "bernoulli": torch.bernoulli,
    "multinomial": lambda t: torch.multinomial(t, 1),
    "normal": lambda t: torch.normal(t, 1.0),
    "a Parameter": nn.Parameter,
    "dropout": nn.Dropout(),
}


@each(LIKE)
def test_it_is_made_beside_the_tensor_it_is_made_like(row):
    assert row(torch.full((3,), 0.5, device="cuda")).device == GPU


IN_PLACE = {
    "normal_": lambda t: t.normal_(),
    "uniform_": lambda t: t.uniform_(),
    "random_": lambda t: t.random_(),
    "bernoulli_": lambda t: t.bernoulli_(),
    "zero_": lambda t: t.zero_(),
    "fill_": lambda t: t.fill_(2.0),
    "xavier_uniform_": nn.init.xavier_uniform_,
    "kaiming_normal_": nn.init.kaiming_normal_,
    "orthogonal_": nn.init.orthogonal_,
    "resize_": lambda t: t.resize_(5),
}


@each(IN_PLACE)
def test_it_is_filled_where_it_is(row):
    assert row(torch.empty(3, 3, device="cuda")).device == GPU


ON_THE_CPU = {
    "zeros": lambda: torch.zeros(2),
    "tensor": lambda: torch.tensor([1.0]),
    "arange of a CUDA tensor's length": lambda: torch.arange(len(gpu(3))),
    "randperm of its length": lambda: torch.randperm(len(gpu(3))),
    "Tensor": lambda: torch.Tensor([1.0]),
    "FloatTensor": lambda: torch.FloatTensor([1.0]),
    "LongTensor": lambda: torch.LongTensor([1]),
    "from_numpy": lambda: torch.from_numpy(np.ones(2)),
    "tensor of a CUDA tensor's list": lambda: torch.tensor(gpu(3).tolist()),
    "full of a CUDA number": lambda: torch.full((2,), float(gpu())),
    "a layer": lambda: nn.Linear(2, 2).weight,
    "a random sample of its shape": lambda: torch.randn(gpu(2, 3).shape),
}


@each(ON_THE_CPU)
def test_it_is_made_on_the_cpu_where_nothing_else_is_said(row):
    assert row().device == CPU


def test_a_leaf_is_made_on_cuda():
    leaf = torch.ones(2, device="cuda", requires_grad=True)
    assert leaf.is_leaf
    assert leaf.grad is None


def test_what_was_moved_is_no_leaf():
    assert not torch.ones(2, requires_grad=True).cuda().is_leaf


def test_a_parameter_that_was_moved_is_no_parameter():
    moved = nn.Parameter(torch.ones(2)).cuda()
    assert not isinstance(moved, nn.Parameter)
    assert not moved.is_leaf


@pytest.mark.filterwarnings("ignore")
@each(
    {
        "sizes": (lambda: torch.cuda.FloatTensor(2, 3), (2, 3), torch.float32),
        "a list": (lambda: torch.cuda.FloatTensor([1.0, 2.0]), (2,), torch.float32),
        "whole numbers": (lambda: torch.cuda.LongTensor([1, 2]), (2,), torch.int64),
        "halves": (lambda: torch.cuda.HalfTensor(2), (2,), torch.float16),
        "bytes": (lambda: torch.cuda.ByteTensor([1]), (1,), torch.uint8),
        "nothing": (lambda: torch.cuda.FloatTensor(0), (0,), torch.float32),
    }
)
def test_the_legacy_class_makes_a_tensor_of(row):
    make, shape, dtype = row
    made = make()
    assert (made.device, tuple(made.shape), made.dtype) == (GPU, shape, dtype)


def test_values_and_dtype_are_as_on_the_cpu():
    made = torch.arange(3, device="cuda")
    assert (made.tolist(), made.dtype) == ([0, 1, 2], torch.int64)
    assert torch.tensor(np.float64(1.5), device="cuda").dtype is torch.float64
    assert torch.linspace(0, 1, 3, device="cuda").tolist() == [0.0, 0.5, 1.0]


def test_complex_tensors_are_made_of_parts():
    assert torch.complex(gpu(2), gpu(2)).device == GPU
    assert torch.polar(gpu(2), gpu(2)).device == GPU


def test_combinations_of_cuda_tensors():
    assert places(torch.meshgrid(gpu(2), gpu(3), indexing="ij")) == {"cuda:0"}
    assert places(torch.cartesian_prod(ids(1, 2), ids(3))) == {"cuda:0"}
    assert places(torch.combinations(ids(1, 2, 3))) == {"cuda:0"}


def test_the_deprecated_range_is_made_where_asked_for():
    with pytest.warns(UserWarning, match="range is deprecated"):
        made = torch.range(0, 2, device="cuda:0")
    assert made.device == GPU

"""Errors about a generator of random numbers: what the note says to write is run, and works."""

import re

import pytest
import torch
from torch.utils.data import DataLoader, Dataset, RandomSampler, TensorDataset, random_split

from runtime_guard import virtual_gpu
from tests.guard.messages.test_explain import note_of, unfolded

ROWS = TensorDataset(torch.arange(8.0))


class Noise(Dataset):
    """Draws its samples by itself, with the generator that it is given."""

    def __init__(self, generator):
        self.generator = generator

    def __len__(self):
        return 2

    def __getitem__(self, index):
        return torch.rand(2, device="cuda", generator=self.generator)


def shuffled(generator=None):
    return list(DataLoader(ROWS, batch_size=4, shuffle=True, generator=generator))


def sampled(generator=None):
    return list(DataLoader(ROWS, batch_size=4, sampler=RandomSampler(ROWS, generator=generator)))


def divided(generator=torch.default_generator):
    return random_split(ROWS, [4, 4], generator=generator)


def noisy(generator=None):
    return list(DataLoader(Noise(generator or torch.Generator())))


def drawn(generator=None):
    return torch.rand(3, device="cuda", generator=generator or torch.Generator())


@pytest.fixture
def on_cuda():
    with virtual_gpu(1):
        torch.set_default_device("cuda")
        yield
        torch.set_default_device(None)


@pytest.fixture
def on_cpu():
    with virtual_gpu(1):
        yield


def advised(function, *args):
    """What the note says about a generator, and the generator itself."""
    note = unfolded(note_of(function, *args))
    made = re.search(r"torch\.Generator\((?:device=\"\w+\")?\)", note)
    assert made is not None
    return note, eval(made[0])


@pytest.mark.parametrize(
    ("function", "taker"),
    [
        (shuffled, "to the DataLoader, or to the sampler that you give it"),
        (sampled, "to the DataLoader, or to the sampler that you give it"),
        (divided, "to random_split()"),
    ],
)
def test_under_a_default_device_the_generator_is_made_there(on_cuda, function, taker):
    note, generator = advised(function)
    assert note.startswith('pass `generator=torch.Generator(device="cuda")` ' + taker)
    assert "the default device is cuda failed at: " in note
    function(generator)


@pytest.mark.parametrize("function", [shuffled, sampled, divided])
def test_without_one_it_is_made_on_the_cpu(on_cpu, function):
    note, generator = advised(function, torch.Generator(device="cuda"))
    assert note.startswith("pass `generator=torch.Generator()` to ")
    function(generator)


@pytest.mark.parametrize("function", [drawn, noisy])
def test_elsewhere_it_is_made_where_the_tensor_is(on_cpu, function):
    note, generator = advised(function)
    assert note.startswith('write `torch.Generator(device="cuda")`: ')
    function(generator)

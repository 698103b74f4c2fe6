"""Namespaces: random numbers."""

import pytest
import torch
from torch import nn

from tests.conformance.given import CPU, GPU, each, gpu
from tests.conformance.texts import refused

ONE_GENERATOR = pytest.mark.departs(
    reason="one generator draws for all devices, so that a seed gives the losses of a CPU run"
)

SEEDS = {
    "torch.manual_seed": torch.manual_seed,
    "torch.random.manual_seed": torch.random.manual_seed,
    "torch.cuda.manual_seed": torch.cuda.manual_seed,
    "torch.cuda.manual_seed_all": torch.cuda.manual_seed_all,
}

NUMBERS = {
    "rand": lambda: torch.rand(3, device="cuda"),
    "randn": lambda: torch.randn(3, device="cuda"),
    "randint": lambda: torch.randint(0, 100, (5,), device="cuda"),
    "randperm": lambda: torch.randperm(10, device="cuda"),
    "normal_": lambda: torch.empty(3, device="cuda").normal_(),
    "dropout": lambda: nn.functional.dropout(torch.ones(20, device="cuda")),
    "bernoulli": lambda: torch.bernoulli(torch.full((20,), 0.5, device="cuda")),
    "multinomial": lambda: torch.multinomial(torch.ones(20, device="cuda"), 5),
    "randn_like": lambda: torch.randn_like(torch.ones(3, device="cuda")),
    "a layer": lambda: nn.Linear(2, 2, device="cuda").weight.detach(),
}


@each(SEEDS)
def test_a_seed_repeats_the_numbers(row):
    row(7)
    before = torch.rand(3, device="cuda")
    row(7)
    assert torch.rand(3, device="cuda").tolist() == before.tolist()


@each(NUMBERS)
def test_the_same_seed_gives_the_same(row):
    torch.manual_seed(3)
    before = row()
    torch.manual_seed(3)
    assert row().tolist() == before.tolist()
    assert before.device == GPU


def test_numbers_go_on():
    assert torch.rand(8, device="cuda").tolist() != torch.rand(8, device="cuda").tolist()


def test_a_seed_for_cuda_alone_leaves_the_cpu():
    torch.manual_seed(0)
    expected = torch.rand(3).tolist()
    torch.manual_seed(0)
    torch.cuda.manual_seed(5)
    torch.cuda.manual_seed_all(5)
    assert torch.rand(3).tolist() == expected


@ONE_GENERATOR
def test_numbers_for_cuda_leave_those_of_the_cpu():
    torch.manual_seed(0)
    expected = torch.rand(3).tolist()
    torch.manual_seed(0)
    torch.rand(100, device="cuda")
    assert torch.rand(3).tolist() == expected


@ONE_GENERATOR
def test_numbers_for_the_cpu_leave_those_of_cuda():
    torch.manual_seed(0)
    expected = torch.rand(3, device="cuda").tolist()
    torch.manual_seed(0)
    torch.rand(100)
    assert torch.rand(3, device="cuda").tolist() == expected


def test_the_state_is_a_cpu_tensor_of_bytes():
    state = torch.cuda.get_rng_state()
    assert (state.device, state.dtype) == (CPU, torch.uint8)
    assert len(torch.cuda.get_rng_state_all()) == torch.cuda.device_count()


def test_a_state_is_put_back():
    state = torch.cuda.get_rng_state()
    before = torch.rand(3, device="cuda")
    torch.cuda.set_rng_state(state)
    assert torch.rand(3, device="cuda").tolist() == before.tolist()


def test_all_states_are_put_back():
    states = torch.cuda.get_rng_state_all()
    before = torch.rand(3, device="cuda")
    torch.cuda.set_rng_state_all(states)
    assert torch.rand(3, device="cuda").tolist() == before.tolist()


def test_a_fork_ends_where_it_began():
    torch.manual_seed(1)
    expected = torch.rand(2, device="cuda").tolist()
    torch.manual_seed(1)
    with torch.random.fork_rng(devices=[0]):
        torch.rand(9, device="cuda")
    assert torch.rand(2, device="cuda").tolist() == expected


def test_a_fork_of_no_device_leaves_cuda_alone():
    torch.manual_seed(1)
    with torch.random.fork_rng(devices=[]):
        inside = torch.rand(2, device="cuda").tolist()
    torch.manual_seed(1)
    assert torch.rand(2, device="cuda").tolist() == inside


def test_the_seed_is_told():
    torch.cuda.manual_seed(11)
    assert torch.cuda.initial_seed() == 11
    assert torch.cuda.default_generators[0].initial_seed() == 11


def test_a_generator_is_on_cuda():
    generator = torch.Generator(device="cuda")
    assert generator.device.type == "cuda"
    assert generator.manual_seed(4) is generator
    assert generator.initial_seed() == 4


def test_a_generator_repeats_its_numbers():
    generator = torch.Generator("cuda").manual_seed(4)
    before = torch.rand(3, device="cuda", generator=generator)
    generator.manual_seed(4)
    assert torch.rand(3, device="cuda", generator=generator).tolist() == before.tolist()


def test_a_generators_state_is_put_back():
    generator = torch.Generator("cuda")
    state = generator.get_state()
    before = torch.randn(3, device="cuda", generator=generator)
    generator.set_state(state)
    assert torch.randn(3, device="cuda", generator=generator).tolist() == before.tolist()


def test_a_generator_of_ones_own_leaves_the_default_alone():
    torch.manual_seed(0)
    expected = torch.rand(3, device="cuda").tolist()
    torch.manual_seed(0)
    torch.rand(100, device="cuda", generator=torch.Generator("cuda"))
    assert torch.rand(3, device="cuda").tolist() == expected


CPU_GENERATOR = {
    "randn": lambda g: torch.randn(3, device="cuda", generator=g),
    "rand": lambda g: torch.rand(3, device="cuda", generator=g),
    "randint": lambda g: torch.randint(5, (3,), device="cuda", generator=g),
    "randperm": lambda g: torch.randperm(3, device="cuda", generator=g),
    "normal_": lambda g: gpu(3).normal_(generator=g),
    "uniform_": lambda g: gpu(3).uniform_(generator=g),
    "bernoulli": lambda g: torch.bernoulli(gpu(3) / 2, generator=g),
    "multinomial": lambda g: torch.multinomial(gpu(3), 1, generator=g),
    "xavier_uniform_": lambda g: nn.init.xavier_uniform_(gpu(3, 3), generator=g),
}


@each(CPU_GENERATOR)
def test_a_cpu_generator_makes_no_cuda_numbers(row):
    refused(
        lambda: row(torch.Generator()),
        "Expected a 'cuda' device type for generator but found 'cpu'",
    )


@pytest.mark.parametrize("make", [torch.rand, torch.randn, torch.randperm])
def test_a_cuda_generator_makes_no_cpu_numbers(make):
    refused(
        lambda: make(3, generator=torch.Generator("cuda")),
        "Expected a 'cpu' device type for generator but found 'cuda'",
    )


def test_cpu_numbers_may_be_moved():
    noise = torch.randn(3, generator=torch.Generator().manual_seed(0)).to("cuda")
    assert noise.device == GPU

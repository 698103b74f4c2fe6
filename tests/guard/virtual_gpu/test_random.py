"""Generators of virtual devices, and what a seed means there."""

import copy
import pickle

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from runtime_guard import virtual_gpu


@pytest.fixture
def two():
    with virtual_gpu(2):
        yield


def drawn(device="cuda", **options):
    return torch.rand(4, device=device, **options).tolist()


def losses(device, seeds=()):
    """The losses of a small training run with dropout and noise, on a device."""
    torch.manual_seed(7)
    for seed in seeds:
        seed(7)
    model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 1)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    found = []
    for _ in range(3):
        order = torch.randperm(6)
        batch = torch.arange(24.0).view(6, 4)[order].to(device)
        noise = torch.randn(6, 4, device=device) + torch.empty(6, 4, device=device).uniform_()
        loss = model(batch + noise).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


class TestOneStream:
    def test_losses_are_those_of_the_cpu(self, two):
        expected = losses("cpu")
        assert losses("cuda") == expected
        assert losses("cuda:1") == expected

    def test_so_they_are_where_the_device_is_seeded_as_well(self, two):
        seeds = [torch.cuda.manual_seed, torch.cuda.manual_seed_all]
        assert losses("cuda", seeds) == losses("cpu")

    def test_seeding_a_device_leaves_the_cpu_alone(self, two):
        torch.manual_seed(1)
        expected = drawn("cpu")
        torch.manual_seed(1)
        torch.cuda.manual_seed(5)
        torch.cuda.manual_seed(5)
        assert drawn("cpu") == expected

    def test_recomputation_draws_the_same(self, two):
        def noisy(tensor):
            return functional.dropout(tensor, 0.5)

        start = torch.ones(64, device="cuda", requires_grad=True)
        result = checkpoint(noisy, start, use_reentrant=False)
        result.sum().backward()
        assert torch.equal(start.grad, result.detach())


class TestSeeds:
    def test_a_seed_brings_the_same_numbers_again(self, two):
        torch.cuda.manual_seed(3)
        one = drawn()
        torch.cuda.manual_seed(4)
        other = drawn()
        torch.cuda.manual_seed(3)
        assert drawn() == one != other
        torch.cuda.manual_seed(4)
        assert drawn() == other

    def test_so_it_does_where_all_devices_were_seeded(self, two):
        torch.manual_seed(0)
        one = drawn()
        torch.cuda.manual_seed(0)
        assert drawn() == one
        torch.manual_seed(0)
        assert drawn() == one

    def test_so_it_does_for_dropout_and_what_fills(self, two):
        ones = torch.ones(64, device="cuda")
        for draw in (functional.dropout, torch.bernoulli, torch.rand_like, torch.Tensor.normal_):
            torch.cuda.manual_seed(2)
            one = draw(ones * 0.5).tolist()
            torch.cuda.manual_seed(2)
            assert draw(ones * 0.5).tolist() == one

    def test_a_device_that_went_apart_draws_on(self, two):
        torch.cuda.manual_seed(3)
        expected = drawn() + drawn()
        torch.cuda.manual_seed(3)
        found = drawn()
        torch.rand(3)
        assert found + drawn() == expected

    def test_devices_are_seeded_apart(self, two):
        torch.cuda.manual_seed(3)
        drawn()
        with torch.cuda.device(1):
            torch.cuda.manual_seed(9)
        assert [one.initial_seed() for one in torch.cuda.default_generators] == [3, 9]
        torch.cuda.manual_seed_all(5)
        assert [one.initial_seed() for one in torch.cuda.default_generators] == [5, 5]
        assert torch.cuda.initial_seed() == 5

    def test_a_seed_from_anywhere(self, two):
        torch.cuda.seed()
        one = torch.cuda.initial_seed()
        torch.cuda.seed_all()
        assert torch.cuda.initial_seed() != one
        assert drawn() != drawn()


class TestStates:
    def test_a_state_is_gone_back_to(self, two):
        state = torch.cuda.get_rng_state()
        one = drawn()
        torch.cuda.set_rng_state(state)
        assert drawn() == one
        torch.cuda.set_rng_state_all(torch.cuda.get_rng_state_all())

    def test_it_lies_on_the_cpu(self, two):
        state = torch.cuda.get_rng_state()
        assert (state.device.type, state.dtype) == ("cpu", torch.uint8)
        for put in (torch.cuda.set_rng_state, torch.set_rng_state):
            with pytest.raises(TypeError, match=r"RNG state must be a torch\.ByteTensor"):
                put(state.cuda())
        with pytest.raises(TypeError, match=r"expected a torch\.ByteTensor, but got list"):
            torch.cuda.set_rng_state([1])

    def test_a_resumed_program_draws_as_it_did(self, two):
        torch.manual_seed(3)
        drawn("cpu")
        states = torch.get_rng_state(), torch.cuda.get_rng_state()
        expected = drawn(), drawn("cpu")
        torch.manual_seed(8)
        torch.cuda.set_rng_state(states[1])
        torch.set_rng_state(states[0])
        assert (drawn(), drawn("cpu")) == expected

    def test_a_fork_gives_every_stream_back(self, two):
        torch.manual_seed(3)
        expected = drawn(), drawn("cpu")
        torch.manual_seed(3)
        with torch.random.fork_rng(devices=[0, 1]):
            torch.manual_seed(9)
            drawn()
        assert (drawn(), drawn("cpu")) == expected


class TestGenerators:
    @pytest.mark.parametrize("device", ["cuda", "cuda:1", torch.device("cuda:1")])
    def test_one_belongs_to_a_device(self, two, device):
        made = torch.Generator(device=device)
        assert made.device == torch.empty(0, device=device).device
        assert isinstance(made, torch.Generator)
        assert isinstance(torch.default_generator, torch.Generator)
        assert torch.Generator().device.type == "cpu"

    def test_it_has_a_stream_of_its_own(self, two):
        torch.manual_seed(0)
        expected = drawn()
        torch.manual_seed(0)
        generator = torch.Generator("cuda").manual_seed(5)
        one = drawn(generator=generator)
        assert drawn() == expected != one
        generator.manual_seed(5)
        assert drawn(generator=generator) == one
        assert generator.initial_seed() == 5

    def test_it_is_of_the_device_that_draws(self, two):
        with pytest.raises(RuntimeError, match=r"Expected a 'cuda' .* generator but found 'cpu'"):
            drawn(generator=torch.Generator())
        with pytest.raises(RuntimeError, match=r"Expected a 'cpu' .* generator but found 'cuda'"):
            drawn("cpu", generator=torch.Generator("cuda"))
        with pytest.raises(RuntimeError, match=r"Expected a 'cuda' .* generator but found 'cpu'"):
            torch.ones(2, device="cuda").normal_(generator=torch.Generator())

    def test_a_default_one_can_be_given(self, two):
        torch.manual_seed(0)
        expected = drawn()
        torch.manual_seed(0)
        assert drawn(generator=torch.cuda.default_generators[0]) == expected

    def test_its_state_is_kept(self, two):
        generator = torch.Generator("cuda:1").manual_seed(5)
        state = generator.get_state()
        expected = drawn("cuda:1", generator=generator)
        generator.set_state(state)
        twin = pickle.loads(pickle.dumps(generator))
        clone = generator.clone_state()
        assert twin.device == clone.device == generator.device
        for one in (generator, twin, clone):
            assert drawn("cuda:1", generator=one) == expected

    def test_there_is_none_without_the_device(self):
        with virtual_gpu(1, "mps"):
            assert len(torch.cuda.default_generators) == 0
            assert torch.Generator("mps").device.type == "mps"
            with pytest.raises(AssertionError, match="not compiled with CUDA"):
                torch.Generator("cuda")
        assert copy.copy(torch.Generator) is torch._C.Generator

"""Input and output: datasets and loaders."""

import pytest
import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset, default_collate, random_split

from tests.conformance.given import CPU, GPU, cpu, each, gpu, ids, places
from tests.conformance.texts import refused


def first(loader):
    return next(iter(loader))


def test_batches_are_on_the_cpu():
    assert places(first(DataLoader(TensorDataset(cpu(4, 2), cpu(4)), batch_size=2))) == {"cpu"}


def test_batches_of_a_cuda_dataset_are_on_cuda():
    loader = DataLoader(TensorDataset(gpu(4, 2), ids(0, 1, 0, 1)), batch_size=2, shuffle=True)
    assert places(first(loader)) == {"cuda:0"}


class OnCuda(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return {"x": torch.full((2,), float(index), device="cuda"), "y": index}


def test_a_dataset_may_make_its_items_on_cuda():
    batch = first(DataLoader(OnCuda(), batch_size=2))
    assert (batch["x"].device, batch["y"].device) == (GPU, CPU)


def test_a_collate_function_may_move():
    loader = DataLoader(
        TensorDataset(cpu(4, 2)),
        batch_size=2,
        collate_fn=lambda items: default_collate(items)[0].cuda(),
    )
    assert first(loader).device == GPU


def test_pinned_batches():
    inputs, targets = first(
        DataLoader(TensorDataset(cpu(4, 2), cpu(4)), batch_size=2, pin_memory=True)
    )
    assert (inputs.device, inputs.is_pinned(), targets.is_pinned()) == (CPU, True, True)
    assert inputs.to("cuda", non_blocking=True).device == GPU


def test_pinned_dictionaries():
    items = [{"x": torch.ones(2), "name": "a"}] * 2
    batch = first(DataLoader(items, batch_size=2, pin_memory=True))
    assert batch["x"].is_pinned()
    assert batch["name"] == ["a", "a"]


def test_cuda_batches_are_not_pinned():
    refused(
        lambda: first(DataLoader(TensorDataset(gpu(4)), batch_size=2, pin_memory=True)),
        "cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned",
    )


@pytest.mark.parametrize("pinned", [False, True])
def test_batches_of_a_worker_are_on_the_cpu(pinned):
    loader = DataLoader(
        TensorDataset(torch.arange(4.0)), batch_size=2, num_workers=1, pin_memory=pinned
    )
    batches = [batch for (batch,) in loader]
    assert [batch.tolist() for batch in batches] == [[0.0, 1.0], [2.0, 3.0]]
    assert {batch.is_pinned() for batch in batches} == {pinned}
    assert places(batches) == {"cpu"}
    assert batches[0].cuda().device == GPU


COLLATED = {
    "CUDA tensors": (lambda: [gpu(2), gpu(2)], "cuda:0"),
    "CPU tensors": (lambda: [cpu(2), cpu(2)], "cpu"),
    "numbers": (lambda: [1.0, 2.0], "cpu"),
    "dictionaries of CUDA tensors": (lambda: [{"x": gpu(2)}, {"x": gpu(2)}], "cuda:0"),
    "pairs": (lambda: [(gpu(2), gpu(1)), (gpu(2), gpu(1))], "cuda:0"),
}


@each(COLLATED)
def test_items_are_collated_where_they_are(row):
    items, where = row
    assert places(default_collate(items())) == {where}


def test_items_of_both_sides_are_not_collated():
    refused(lambda: default_collate([gpu(2), cpu(2)]), "same device")


def test_a_generator_for_shuffling_is_a_cpu_one():
    loader = DataLoader(range(4), shuffle=True, generator=torch.Generator())
    assert sorted(int(batch) for batch in loader) == [0, 1, 2, 3]


def test_a_cuda_generator_does_not_shuffle():
    refused(
        lambda: list(DataLoader(range(4), shuffle=True, generator=torch.Generator("cuda"))),
        "Expected a 'cpu' device type for generator but found 'cuda'",
    )


def test_a_split_takes_a_cpu_generator():
    one, other = random_split(range(4), [3, 1], generator=torch.Generator().manual_seed(0))
    assert (len(one), len(other)) == (3, 1)

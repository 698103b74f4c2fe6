"""Rules: indexing. An index may come from the CPU to a CUDA tensor, but not the other way."""

import pytest
import torch

from tests.conformance.given import CPU, cpu, each, gpu, ids, places
from tests.conformance.texts import INDEX, elementwise, refused

MASK = (True, False, True)

FROM_CUDA = {
    "an index": lambda: cpu(3)[ids(0, 2)],
    "a mask": lambda: cpu(3)[ids(*MASK)],
    "a permutation": lambda: cpu(3, 2)[torch.randperm(3, device="cuda")],
    "an index among slices": lambda: cpu(3, 4)[:, ids(0, 2)],
    "one of two indices": lambda: cpu(3, 4)[ids(0, on=CPU), ids(2)],
    "a 2-dim index": lambda: cpu(3)[ids([0, 1], [1, 2])],
    "a comparison of a CUDA tensor": lambda: cpu(3)[gpu(3) > 1],
}


@each(FROM_CUDA)
def test_a_cpu_tensor_refuses_a_cuda_index(row):
    refused(row, INDEX)


FROM_CPU = {
    "an index": lambda: gpu(3)[ids(0, 2, on=CPU)],
    "a mask": lambda: gpu(3)[ids(*MASK, on=CPU)],
    "a list": lambda: gpu(3)[[0, 2]],
    "a mask as a list": lambda: gpu(3)[[True, False, True]],
    "a permutation": lambda: gpu(3, 2)[torch.randperm(3)],
    "one CPU and one CUDA index": lambda: gpu(3, 4)[ids(0, on=CPU), ids(2)],
    "an index among slices": lambda: gpu(3, 4)[1:, ids(0, 2, on=CPU)],
    "a 0-dim index": lambda: gpu(3)[torch.tensor(1)],
    "a number, a slice, an ellipsis, None": lambda: gpu(3, 4)[..., None, 1:, 2],
    "arange and labels": lambda: gpu(2, 3)[torch.arange(2), ids(0, 2, on=CPU)],
}


@each(FROM_CPU)
def test_a_cuda_tensor_takes_a_cpu_index(row):
    assert places(row()) == {"cuda:0"}


ON_CUDA = {
    "an index": lambda: gpu(3)[ids(0, 2)],
    "a mask": lambda: gpu(3)[ids(*MASK)],
    "a comparison": lambda: gpu(3)[gpu(3) > 1],
    "nonzero": lambda: gpu(3)[gpu(3).nonzero(as_tuple=True)],
}


@each(ON_CUDA)
def test_a_cuda_tensor_takes_a_cuda_index(row):
    assert places(row()) == {"cuda:0"}


def test_a_zero_dimensional_cuda_integer_is_a_number_to_a_cpu_tensor():
    table = torch.tensor([1.0, 2.0, 3.0])
    picked = table[torch.tensor(2, device="cuda")]
    assert (picked.item(), picked.device) == (3.0, CPU)


def test_a_zero_dimensional_cuda_integer_may_bound_a_slice():
    assert cpu(5)[: torch.tensor(2, device="cuda")].shape == (2,)


def test_a_list_may_be_indexed_by_a_cuda_integer():
    assert ["a", "b", "c"][torch.tensor(1, device="cuda")] == "b"


def put(target, index, value):
    target[index] = value
    return target


STORED = {
    "a number at a CPU index": lambda: put(gpu(3), ids(0, on=CPU), 1.0),
    "a number at a CPU mask": lambda: put(gpu(3), ids(*MASK, on=CPU), 0.0),
    "a number at a CUDA mask": lambda: put(gpu(3), ids(*MASK), 0.0),
    "a CPU tensor in a slice": lambda: put(gpu(3), slice(0, 2), cpu(2)),
    "a CPU tensor in a row": lambda: put(gpu(2, 3), 0, cpu(3)),
    "a CPU tensor everywhere": lambda: put(gpu(3), ..., cpu(3)),
    "a CPU number at a CUDA index": lambda: put(gpu(3), ids(0, 1), cpu()),
    "a CPU number at a CUDA mask": lambda: put(gpu(3), ids(*MASK), cpu()),
    "one CPU element at a CUDA mask": lambda: put(gpu(3), ids(*MASK), cpu(1)),
    "a CUDA tensor at a CPU index": lambda: put(gpu(3), ids(0, 1, on=CPU), gpu(2)),
}


@each(STORED)
def test_it_may_be_stored_in_a_cuda_tensor(row):
    assert places(row()) == {"cuda:0"}


STORED_ON_CPU = {
    "a CUDA tensor in a slice": lambda: put(cpu(3), slice(0, 2), gpu(2)),
    "a CUDA loss at a position": lambda: put(cpu(3), 1, gpu()),
    "a CUDA number at a CPU index": lambda: put(cpu(3), ids(0, 1, on=CPU), gpu()),
    "a number at a CUDA index": lambda: put(cpu(3), ids(0, 1), 1.0),
    "a CPU tensor at a CUDA index": lambda: put(cpu(3), ids(0, 1), cpu(2)),
    "a number at a CUDA mask": lambda: put(cpu(3), ids(*MASK), 1.0),
}


@each(STORED_ON_CPU)
def test_it_may_be_stored_in_a_cpu_tensor(row):
    assert places(row()) == {"cpu"}


def test_what_is_stored_in_a_slice_is_copied():
    target = torch.zeros(3, device="cuda")
    target[1:] = torch.tensor([4.0, 5.0])
    assert target.tolist() == [0.0, 4.0, 5.0]


NOT_STORED = {
    "a CPU tensor at a CUDA index": (lambda: put(gpu(3), ids(0, 1), cpu(2)), elementwise()),
    "a CPU tensor at a CPU index": (
        lambda: put(gpu(3), ids(0, 1, on=CPU), cpu(2)),
        elementwise(),
    ),
    "a CPU tensor at a CUDA mask": (lambda: put(gpu(3), ids(*MASK), cpu(2)), elementwise()),
    "a CUDA tensor in a CPU tensor at a CPU index": (
        lambda: put(cpu(3), ids(0, 1, on=CPU), gpu(2)),
        elementwise(),
    ),
    "index_put_ from the CPU": (
        lambda: gpu(3).index_put_((ids(0, 1),), cpu(2)),
        elementwise(),
    ),
}


@each(NOT_STORED)
def test_it_may_not_be_stored(row):
    call, text = row
    refused(call, text)


def test_index_put_takes_a_cpu_index():
    assert gpu(3).index_put_((ids(0, on=CPU),), gpu(1)).device.type == "cuda"


def test_index_fill_refuses_a_cpu_index():
    with pytest.raises(RuntimeError, match="same device"):
        gpu(3).index_fill_(0, ids(0, on=CPU), 1.0)


def test_a_mask_selects_the_same_elements_from_either_side():
    values = torch.arange(3.0, device="cuda")
    picked = [values[ids(*MASK)], values[ids(*MASK, on=CPU)]]
    assert [one.tolist() for one in picked] == [[0.0, 2.0], [0.0, 2.0]]

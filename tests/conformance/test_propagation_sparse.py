"""Propagation: sparse tensors."""

import pytest
import torch

from tests.conformance.given import CPU, GPU, cpu, each, gpu, ids, places

pytestmark = pytest.mark.filterwarnings(
    "ignore:Sparse invariant checks", "ignore:Sparse CSR tensor support is in beta"
)

DIAGONAL = [[0, 1], [0, 1]]


def coo(device):
    return torch.sparse_coo_tensor(DIAGONAL, [1.0, 2.0], (2, 2), device=device)


MADE = {
    "of lists": lambda: coo("cuda"),
    "of CUDA tensors": lambda: torch.sparse_coo_tensor(ids(*DIAGONAL), ids(1.0, 2.0), (2, 2)),
    "of CPU tensors, for a device": (
        lambda: torch.sparse_coo_tensor(
            torch.tensor(DIAGONAL), torch.tensor([1.0, 2.0]), (2, 2), device="cuda"
        )
    ),
    "moved": lambda: coo("cpu").cuda(),
    "moved by to": lambda: coo("cpu").to("cuda"),
    "of a dense tensor": lambda: torch.eye(2, device="cuda").to_sparse(),
}


@each(MADE)
def test_a_sparse_tensor_is_on_cuda_in_all_its_parts(row):
    made = row().coalesce()
    assert (made.device, made.is_cuda, made.is_sparse) == (GPU, True, True)
    assert places([made.indices(), made.values()]) == {"cuda:0"}


RESULTS = {
    "to_dense": lambda s: s.to_dense(),
    "coalesce": lambda s: s.coalesce(),
    "sparse.mm": lambda s: torch.sparse.mm(s, gpu(2, 3)),
    "@": lambda s: s @ gpu(2, 3),
    "addition": lambda s: s + s,
    "a number *": lambda s: s * 2,
    "transpose": lambda s: s.t(),
    "sparse.sum": torch.sparse.sum,
}


@each(RESULTS)
def test_what_is_computed_from_it_is_too(row):
    assert row(coo("cuda")).device == GPU


def test_it_moves_back():
    back = coo("cuda").cpu()
    assert back.device == CPU
    assert back.to_dense().tolist() == [[1.0, 0.0], [0.0, 2.0]]


@each(
    {
        "sparse on CUDA, dense on the CPU": lambda: torch.sparse.mm(coo("cuda"), cpu(2, 3)),
        "sparse on the CPU, dense on CUDA": lambda: torch.sparse.mm(coo("cpu"), gpu(2, 3)),
        "addition": lambda: coo("cuda") + coo("cpu"),
    }
)
def test_two_devices_are_refused(row):
    with pytest.raises(RuntimeError):
        row()


def test_compressed_rows_move():
    rows = torch.eye(2).to_sparse_csr().cuda()
    assert rows.device == GPU
    assert places([rows.crow_indices(), rows.col_indices(), rows.values()]) == {"cuda:0"}


def test_compressed_rows_multiply():
    assert (torch.eye(2).to_sparse_csr().cuda() @ gpu(2, 2)).device == GPU


def test_an_embedding_has_sparse_gradients_beside_it():
    embedding = torch.nn.Embedding(3, 2, sparse=True).cuda()
    embedding(ids(0, 2)).sum().backward()
    assert embedding.weight.grad.is_sparse
    assert embedding.weight.grad.device == GPU


def test_it_prints_its_device():
    assert "device='cuda:0'" in repr(coo("cuda"))

"""Rules: operators that check every tensor argument. A 0-dim CPU tensor is no exception to them.

The first tensor of the schema says where all must be; the first that differs is named.
"""

import pytest
import torch
from torch.nn import functional

from tests.conformance.given import CPU, cpu, each, gpu, ids
from tests.conformance.texts import ANY, differs, exact, refused

LINEAR_ALGEBRA = {
    "mm, the second on the CPU": (
        lambda: torch.mm(gpu(2, 3), cpu(3, 4)),
        exact("mat2", "cpu", "cuda:0", "mm"),
    ),
    "mm, the first on the CPU": (
        lambda: torch.mm(cpu(2, 3), gpu(3, 4)),
        exact("mat2", "cuda:0", "cpu", "mm"),
    ),
    "the operator @ between matrices": (
        lambda: gpu(2, 3) @ cpu(3, 4),
        exact("mat2", "cpu", "cuda:0", "mm"),
    ),
    "bmm": (lambda: torch.bmm(gpu(5, 2, 3), cpu(5, 3, 4)), exact("mat2", "cpu", "cuda:0", "bmm")),
    "matmul of batches": (
        lambda: torch.matmul(cpu(5, 2, 3), gpu(5, 3, 4)),
        exact("mat2", "cuda:0", "cpu", "bmm"),
    ),
    "addmm, the added on the CPU": (
        lambda: torch.addmm(cpu(4), gpu(2, 3), gpu(3, 4)),
        exact("mat1", "cuda:0", "cpu", "addmm"),
    ),
    "addmm, the first factor on the CPU": (
        lambda: torch.addmm(gpu(4), cpu(2, 3), gpu(3, 4)),
        exact("mat1", "cpu", "cuda:0", "addmm"),
    ),
    "addmm, the second factor on the CPU": (
        lambda: torch.addmm(gpu(4), gpu(2, 3), cpu(3, 4)),
        exact("mat2", "cpu", "cuda:0", "addmm"),
    ),
    "baddbmm": (
        lambda: torch.baddbmm(gpu(2, 2, 2), gpu(2, 2, 2), cpu(2, 2, 2)),
        exact("batch2", "cpu", "cuda:0", "baddbmm"),
    ),
    "dot": (lambda: torch.dot(gpu(3), cpu(3)), exact("tensor", "cpu", "cuda:0", "_dot")),
    "the operator @ between vectors": (
        lambda: gpu(3) @ cpu(3),
        exact("tensor", "cpu", "cuda:0", "_dot"),
    ),
    "addmv": (
        lambda: torch.addmv(gpu(2), gpu(2, 3), cpu(3)),
        exact("vec", "cpu", "cuda:0", "addmv"),
    ),
    "mv": (lambda: gpu(2, 3) @ cpu(3), ANY),
    "einsum": (lambda: torch.einsum("ij,jk->ik", gpu(2, 3), cpu(3, 4)), ANY),
    "tensordot": (lambda: torch.tensordot(gpu(2, 3), cpu(3, 4), dims=1), ANY),
    "linalg.lstsq": (
        lambda: torch.linalg.lstsq(gpu(3, 2), cpu(3, 1)),
        exact("b", "cpu", "cuda:0", "out_linalg_lstsq_out"),
    ),
    "linalg.solve": (
        lambda: torch.linalg.solve(gpu(3, 3), cpu(3, 1)),
        exact("B", "cpu", "cuda:0", "_linalg_solve_ex"),
    ),
}

SELECTION = {
    "index_select": (
        lambda: gpu(3, 2).index_select(0, ids(0, 1, on=CPU)),
        exact("index", "cpu", "cuda:0", "_index_select"),
    ),
    "index_select of a CPU tensor": (
        lambda: cpu(3, 2).index_select(0, ids(0, 1)),
        exact("index", "cuda:0", "cpu", "_index_select"),
    ),
    "gather": (
        lambda: gpu(2, 2).gather(1, ids([0], [1], on=CPU)),
        exact("index", "cpu", "cuda:0", "gather"),
    ),
    "take": (lambda: gpu(3).take(ids(0, on=CPU)), exact("index", "cpu", "cuda:0", "_take")),
    "take_along_dim": (
        lambda: gpu(2, 2).take_along_dim(ids([0], [1], on=CPU), 1),
        "Expected tensor to have cuda:0 Device, but got tensor with cpu Device",
    ),
    "masked_select": (
        lambda: gpu(3).masked_select(ids(True, False, True, on=CPU)),
        exact("mask", "cpu", "cuda:0", "_masked_select"),
    ),
    "scatter, with a CPU index": (
        lambda: gpu(2, 2).scatter(1, ids([0], [1], on=CPU), 1.0),
        exact("index", "cpu", "cuda:0", "scatter_value"),
    ),
    "scatter, from the CPU": (
        lambda: gpu(2, 2).scatter(1, ids([0], [1]), cpu(2, 1)),
        exact("src", "cpu", "cuda:0", "scatter_src"),
    ),
    "scatter_ into a CPU tensor, as one-hot codes are made": (
        lambda: torch.zeros(2, 3).scatter_(1, ids([0], [1]), 1.0),
        exact("index", "cuda:0", "cpu", "scatter__value"),
    ),
    "scatter_add_": (
        lambda: gpu(2, 2).scatter_add_(1, ids([0], [1]), cpu(2, 1)),
        exact("src", "cpu", "cuda:0", "scatter_add_"),
    ),
    "index_add": (
        lambda: gpu(3, 2).index_add(0, ids(0, 1), cpu(2, 2)),
        exact("source", "cpu", "cuda:0", "index_add"),
    ),
    "index_copy": (
        lambda: gpu(3, 2).index_copy(0, ids(0, 1, on=CPU), gpu(2, 2)),
        exact("index", "cpu", "cuda:0", "index_copy"),
    ),
    "searchsorted": (
        lambda: torch.searchsorted(gpu(4).sort().values, cpu(2)),
        exact("self", "cpu", "cuda:0", "Tensor_searchsorted"),
    ),
    "bucketize": (
        lambda: torch.bucketize(cpu(4), ids(0.0, 1.0)),
        exact("boundaries", "cuda:0", "cpu", "Tensor_bucketize"),
    ),
    "isin": (
        lambda: torch.isin(ids(1, 2), ids(2, on=CPU)),
        exact("test_elements", "cpu", "cuda:0", "isin_Tensor_Tensor"),
    ),
    "bincount with weights": (
        lambda: torch.bincount(ids(0, 1, 1), weights=cpu(3)),
        exact("weights", "cpu", "cuda:0", "_bincount"),
    ),
}

JOINING = {
    "cat": (lambda: torch.cat([gpu(2), cpu(2)]), exact("tensors", "cpu", "cuda:0", "cat")),
    "cat, the CPU tensor first": (
        lambda: torch.cat([cpu(2), gpu(2)]),
        exact("tensors", "cuda:0", "cpu", "cat"),
    ),
    "stack": (lambda: torch.stack([gpu(2), cpu(2)]), differs("tensors", "cpu", "cuda:0")),
    "stack of 0-dim tensors": (
        lambda: torch.stack([gpu(), cpu()]),
        differs("tensors", "cpu", "cuda:0"),
    ),
    "hstack": (lambda: torch.hstack([gpu(2), cpu(2)]), differs("tensors", "cpu", "cuda:0")),
    "vstack": (lambda: torch.vstack([cpu(2), gpu(2)]), differs("tensors", "cuda:0", "cpu")),
    "meshgrid": (
        lambda: torch.meshgrid(gpu(2), cpu(3), indexing="ij"),
        "meshgrid expects all tensors to have the same device",
    ),
}

COMPARISON = {
    "equal": (lambda: torch.equal(gpu(2), cpu(2)), exact("other", "cpu", "cuda:0", "_equal")),
    "allclose": (lambda: torch.allclose(gpu(2), cpu(2)), ANY),
    "cdist": (lambda: torch.cdist(gpu(2, 3), cpu(4, 3)), "same device"),
    "quantile": (
        lambda: gpu(3).quantile(ids(0.5, on=CPU)),
        "quantile\\(\\) q tensor must be on the same device as the input tensor",
    ),
    "clamp between tensors": (
        lambda: gpu(3).clamp(min=cpu(3)),
        exact("min", "cpu", "cuda:0", "clamp_Tensor"),
    ),
    "complex": (lambda: torch.complex(gpu(2), cpu(2)), ANY),
}

FUNCTIONS = {
    "linear": (
        lambda: functional.linear(cpu(2, 3), gpu(4, 3), gpu(4)),
        exact("mat1", "cpu", "cuda:0", "addmm"),
    ),
    "linear without a bias": (
        lambda: functional.linear(cpu(2, 3), gpu(4, 3)),
        exact("mat2", "cuda:0", "cpu", "mm"),
    ),
    "embedding": (
        lambda: functional.embedding(ids(0, 1, on=CPU), gpu(3, 2)),
        exact("index", "cpu", "cuda:0", "_index_select"),
    ),
    "embedding_bag": (
        lambda: functional.embedding_bag(ids([0, 1], on=CPU), gpu(3, 2, grad=True)),
        differs("indices", "cpu", "cuda:0"),
    ),
    "layer_norm": (
        lambda: functional.layer_norm(cpu(2, 3), (3,), gpu(3), gpu(3)),
        exact("weight", "cuda:0", "cpu", "_native_layer_norm"),
    ),
    "group_norm": (
        lambda: functional.group_norm(gpu(2, 4), 2, cpu(4), cpu(4)),
        exact("weight", "cpu", "cuda:0", "_native_group_norm"),
    ),
    "grid_sample": (
        lambda: functional.grid_sample(gpu(1, 1, 2, 2), cpu(1, 2, 2, 2), align_corners=False),
        exact("grid", "cpu", "cuda:0", "_grid_sampler_2d"),
    ),
    "inner": (
        lambda: torch.inner(gpu(3), cpu(3)),
        "Expected tensor to have cuda DeviceType, but got tensor with cpu DeviceType",
    ),
    "inner, of a scalar": (
        lambda: torch.inner(gpu(3), torch.tensor(2.0)),
        "Expected tensor to have cuda DeviceType, but got tensor with cpu DeviceType",
    ),
    "cholesky_solve": (
        lambda: torch.cholesky_solve(cpu(2, 2), gpu(2, 2)),
        "Expected b and A to be on the same device, but found b on cpu and A on cuda:0 instead.",
    ),
    "cartesian_prod": (
        lambda: torch.cartesian_prod(gpu(2), cpu(2)),
        "meshgrid expects all tensors to have the same device",
    ),
    "complex": (
        lambda: torch.complex(gpu(2), cpu(2)),
        exact("imag", "cpu", "cuda:0", "out_complex_out"),
    ),
    "polar": (
        lambda: torch.polar(cpu(2), gpu(2)),
        exact("angle", "cuda:0", "cpu", "out_polar_out"),
    ),
    "scaled_dot_product_attention": (
        lambda: functional.scaled_dot_product_attention(gpu(1, 2, 3), cpu(1, 2, 3), gpu(1, 2, 3)),
        "query.device: cuda:0 key.device: cpu and value.device: cuda:0 instead.",
    ),
    "bilinear": (lambda: functional.bilinear(gpu(2, 3), cpu(2, 3), gpu(4, 3, 3)), ANY),
    "huber_loss": (
        lambda: functional.huber_loss(gpu(2), cpu(2)),
        exact("target", "cpu", "cuda:0", "_huber_loss"),
    ),
    "nll_loss": (
        lambda: functional.nll_loss(gpu(2, 3), ids(0, 1, on=CPU)),
        exact("target", "cpu", "cuda:0", "nll_loss_forward"),
    ),
    "cross_entropy": (
        lambda: functional.cross_entropy(gpu(2, 3), ids(0, 1, on=CPU)),
        exact("target", "cpu", "cuda:0", "nll_loss_forward"),
    ),
    "cross_entropy of CPU predictions": (
        lambda: functional.cross_entropy(cpu(2, 3), ids(0, 1)),
        exact("target", "cuda:0", "cpu", "nll_loss_forward"),
    ),
    "cross_entropy with class weights": (
        lambda: functional.cross_entropy(gpu(2, 3), ids(0, 1), weight=cpu(3)),
        exact("weight", "cpu", "cuda:0", "nll_loss_forward"),
    ),
    "cross_entropy of images": (
        lambda: functional.cross_entropy(gpu(1, 3, 2, 2), ids([[0, 1], [1, 2]], on=CPU)),
        exact("target", "cpu", "cuda:0", "_nll_loss2d_forward"),
    ),
}


@each(LINEAR_ALGEBRA | SELECTION | JOINING | COMPARISON | FUNCTIONS)
def test_it_refuses_two_devices_and_says_which_argument_differs(row):
    call, text = row
    refused(call, text)


SCALARS = {
    "addmm's added": lambda: torch.addmm(cpu(), gpu(2, 3), gpu(3, 4)),
    "clamp's bound": lambda: gpu(3).clamp(min=cpu()),
    "stack's elements": lambda: torch.stack([gpu(), cpu()]),
    "isin's element": lambda: torch.isin(ids(1, 2), torch.tensor(2)),
}


@each(SCALARS)
def test_not_even_a_zero_dimensional_cpu_tensor_is_excused(row):
    refused(row, ANY)


def test_out_is_checked_first():
    refused(
        lambda: torch.mm(gpu(2, 3), gpu(3, 4), out=torch.empty(2, 4)),
        exact("self", "cuda:0", "cpu", "mm_out_out"),
    )


def test_the_error_is_a_runtime_error():
    with pytest.raises(RuntimeError) as error:
        torch.mm(gpu(2, 2), cpu(2, 2))
    assert error.type is RuntimeError

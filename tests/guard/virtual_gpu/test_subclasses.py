"""Tensors that have no bytes of their own: wrappers, and those of FakeTensorMode."""

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed._functional_collectives import AsyncCollectiveTensor

import runtime_guard


class Wrapper(torch.Tensor):
    """Says nothing of what it wraps but the device."""

    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(
            cls, inner.size(), dtype=inner.dtype, device=inner.device
        )

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        raise NotImplementedError


def test_a_wrapper_lies_where_it_says():
    with runtime_guard.virtual_gpu(2):
        assert Wrapper(torch.ones(2)).device == torch.device("cpu")
        assert Wrapper(torch.ones(2, device="cuda:1")).device == torch.device("cuda:1")


def test_a_wrapper_that_says_what_it_wraps_lies_with_that():
    with runtime_guard.virtual_gpu(2):
        assert AsyncCollectiveTensor(torch.ones(2, device="cuda:1")).device == torch.device(
            "cuda:1"
        )


def test_fake_tensors_compute_on_the_host_as_distributed_tensors_need_it():
    with runtime_guard.virtual_gpu(2), FakeTensorMode():
        there = torch.empty(2, 2, device="cuda:1")
        assert (there @ there).copy_(torch.ones(2, 2)).shape == (2, 2)
        with torch._C.DisableTorchFunction():
            made = torch.empty(2, 2, device="cuda")
            assert (made + there).copy_(there).shape == (2, 2)


def test_classes_of_torch_are_as_before_afterwards():
    before = torch.Tensor._make_wrapper_subclass
    with runtime_guard.virtual_gpu():
        assert torch.Tensor._make_wrapper_subclass is not before
    assert "_make_wrapper_subclass" not in vars(torch.Tensor)
    with FakeTensorMode():
        assert torch.empty(2, device="cuda:1").device == torch.device("cuda:1")

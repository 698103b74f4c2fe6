"""Operators that a program brings along, and tensors that go to other libraries and back."""

import numpy as np
import pytest
import torch

from runtime_guard import VirtualGpuWarning, virtual_gpu
from runtime_guard.virtual.notices import forget


@pytest.fixture(autouse=True)
def two_gpus():
    forget()
    with virtual_gpu(2) as gpus:
        yield gpus


def data(device="cuda:1"):
    return torch.ones(2, device=device)


@torch.library.custom_op("virtual_gpu::anywhere", mutates_args=())
def anywhere(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x * 2 + y


def test_an_operator_without_a_device_follows_its_tensors():
    assert str(anywhere(data(), data()).device) == "cuda:1"
    assert str(anywhere(data("cpu"), data("cpu")).device) == "cpu"
    with pytest.raises(RuntimeError, match="found at least two devices, cuda:1 and cpu!"):
        anywhere(data(), data("cpu"))


def test_a_kernel_for_cuda_runs_and_is_seen():
    @torch.library.custom_op("virtual_gpu::double", mutates_args=(), device_types="cuda")
    def double(x: torch.Tensor) -> torch.Tensor:
        return x * 2 + torch.zeros(2, device="cuda:1")

    double.register_autograd(
        lambda ctx, grad: grad * 2, setup_context=lambda ctx, inputs, output: None
    )
    leaf = data().requires_grad_()
    made = double(leaf)
    made.sum().backward()
    assert (str(made.device), leaf.grad.tolist()) == ("cuda:1", [2.0, 2.0])
    with pytest.raises(RuntimeError, match="found at least two devices, cuda:0 and cuda:1!"):
        double(data("cuda:0"))


def test_a_kernel_for_cuda_is_none_for_the_cpu(two_gpus):
    definition = torch.library.Library("virtual_gpu_own", "DEF")
    definition.define("inc(Tensor x) -> Tensor")
    definition.impl("inc", lambda x: x + 1, "CUDA")
    inc = torch.ops.virtual_gpu_own.inc
    assert inc(data()).tolist() == [2.0, 2.0]
    with pytest.raises(
        NotImplementedError,
        match="Could not run 'virtual_gpu_own::inc' with arguments from the 'CPU' backend",
    ):
        inc(data("cpu"))
    definition.impl("inc", lambda x: x + 5, "CPU")
    assert inc(data("cpu")).tolist() == [6.0, 6.0]


def test_after_the_block_a_kernel_for_cuda_is_for_cuda_alone(two_gpus):
    definition = torch.library.Library("virtual_gpu_after", "DEF")
    definition.define("inc(Tensor x) -> Tensor")
    definition.impl("inc", lambda x: x + 1, "CUDA")
    assert torch._C._dispatch_has_kernel_for_dispatch_key("virtual_gpu_after::inc", "CPU")
    two_gpus.__exit__(None, None, None)
    try:
        assert not torch._C._dispatch_has_kernel_for_dispatch_key("virtual_gpu_after::inc", "CPU")
    finally:
        two_gpus.__enter__()


def test_compiled_operators_are_not_seen_and_it_is_said():
    told = pytest.warns(VirtualGpuWarning, match=r"not seen \(torch\.ops\.load_library\)")
    with told, pytest.raises(OSError, match="no_such_library"):
        torch.ops.load_library("no_such_library.so")


def test_numpy_refuses_what_lies_on_the_device():
    tensor = data("cuda:0")
    with pytest.raises((RuntimeError, BufferError), match="Unsupported device in DLTensor"):
        np.from_dlpack(tensor)
    with pytest.raises(TypeError, match="can't convert cuda:0 device type tensor to numpy"):
        np.asarray(tensor)
    assert np.from_dlpack(data("cpu")).tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    "through",
    [
        torch.from_dlpack,
        lambda tensor: torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(tensor)),
        lambda tensor: torch.from_dlpack(tensor.__dlpack__()),
    ],
)
def test_a_capsule_keeps_the_device_and_shares_the_memory(through):
    tensor = data("cuda:0")
    made = through(tensor)
    made[0] = 5
    assert (str(made.device), tensor.tolist()) == ("cuda:0", [5.0, 1.0])


def test_a_capsule_can_be_made_on_the_current_device_alone():
    assert data().__dlpack_device__() == (2, 1)
    with pytest.raises(BufferError, match="Can't export tensors on a different CUDA device index"):
        data().__dlpack__()
    with torch.cuda.device(1):
        assert str(torch.from_dlpack(data()).device) == "cuda:1"
    assert str(torch.from_dlpack(data("cuda:0"), device="cpu").device) == "cpu"


def test_the_array_interface_of_cuda_is_for_cuda():
    assert data().__cuda_array_interface__["shape"] == (2,)
    with pytest.raises(AttributeError, match=r"on non-CUDA tensor type: torch\.FloatTensor"):
        _ = data("cpu").__cuda_array_interface__

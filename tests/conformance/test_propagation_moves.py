"""Propagation: every spelling of a move, and what comes of it."""

import pytest
import torch

from tests.conformance.given import CPU, GPU, cpu, each, gpu, ids
from tests.conformance.texts import refused

TO_CUDA = {
    'to("cuda")': lambda t: t.to("cuda"),
    'to("cuda:0")': lambda t: t.to("cuda:0"),
    "to(device)": lambda t: t.to(torch.device("cuda")),
    "to(device with an index)": lambda t: t.to(torch.device("cuda", 0)),
    "to(0)": lambda t: t.to(0),
    "to(device=...)": lambda t: t.to(device="cuda"),
    "to(device=0)": lambda t: t.to(device=0),
    "to(another tensor)": lambda t: t.to(gpu(1)),
    "to(tensor=...)": lambda t: t.to(tensor=gpu(1)),
    "to(device, dtype)": lambda t: t.to("cuda", torch.float32),
    "to(device=..., dtype=...)": lambda t: t.to(device="cuda", dtype=torch.float32),
    "to, not waiting": lambda t: t.to("cuda", non_blocking=True),
    "to, always a copy": lambda t: t.to("cuda", copy=True),
    "to, with a memory format": lambda t: t.to("cuda", memory_format=torch.preserve_format),
    "cuda()": lambda t: t.cuda(),
    "cuda(0)": lambda t: t.cuda(0),
    'cuda("cuda:0")': lambda t: t.cuda("cuda:0"),
    "cuda(device)": lambda t: t.cuda(torch.device("cuda:0")),
    "cuda(device=...)": lambda t: t.cuda(device="cuda:0"),
    "cuda(None)": lambda t: t.cuda(None),
    "cuda, not waiting": lambda t: t.cuda(non_blocking=True),
    "type(name)": lambda t: t.type("torch.cuda.FloatTensor"),
    "type(legacy class)": lambda t: t.type(torch.cuda.FloatTensor),
    "type_as": lambda t: t.type_as(gpu(1)),
    "copy_": lambda t: torch.empty(2, device="cuda").copy_(t),
    "what a device string says": lambda t: t.to(str(gpu(1).device)),
    "the device of another": lambda t: t.to(gpu(1).device),
    "the method called on the class": lambda t: torch.Tensor.to(t, "cuda"),
}


@each(TO_CUDA)
def test_it_moves_to_cuda_with_values_and_dtype(row):
    moved = row(torch.tensor([1.0, 2.0]))
    assert (moved.device, moved.dtype, moved.tolist()) == (GPU, torch.float32, [1.0, 2.0])


TO_CPU = {
    'to("cpu")': lambda t: t.to("cpu"),
    "to(device)": lambda t: t.to(torch.device("cpu")),
    "to(another tensor)": lambda t: t.to(cpu(1)),
    "to(device, dtype)": lambda t: t.to("cpu", torch.float32),
    "cpu()": lambda t: t.cpu(),
    "type(name)": lambda t: t.type("torch.FloatTensor"),
    "type(legacy class)": lambda t: t.type(torch.FloatTensor),
    "type_as": lambda t: t.type_as(cpu(1)),
    "tolist": lambda t: torch.tensor(t.tolist()),
    "numpy of a copy": lambda t: torch.from_numpy(t.cpu().numpy()),
}


@each(TO_CPU)
def test_it_moves_to_the_cpu_with_values_and_dtype(row):
    moved = row(torch.tensor([1.0, 2.0], device="cuda"))
    assert (moved.device, moved.dtype, moved.tolist()) == (CPU, torch.float32, [1.0, 2.0])


STAYS = {
    "to(dtype)": lambda t: t.to(torch.float64),
    "double": lambda t: t.double(),
    "half": lambda t: t.half(),
    "bfloat16": lambda t: t.bfloat16(),
    "long": lambda t: t.long(),
    "type(dtype)": lambda t: t.type(torch.float16),
    "type(name)": lambda t: t.type("torch.cuda.DoubleTensor"),
    "to(memory_format)": lambda t: t.to(memory_format=torch.contiguous_format),
    "clone": lambda t: t.clone(),
    "detach": lambda t: t.detach(),
    "data": lambda t: t.data,
    "contiguous": lambda t: t.contiguous(),
    "requires_grad_": lambda t: t.requires_grad_(),
}


@each(STAYS)
def test_it_stays_on_cuda(row):
    assert row(gpu(2)).device == GPU


SAME = {
    'to("cuda") of a CUDA tensor': lambda: (lambda t: (t, t.to("cuda")))(gpu(2)),  # noqa: PLC3002
    "cuda() of a CUDA tensor": lambda: (lambda t: (t, t.cuda()))(gpu(2)),  # noqa: PLC3002
    "cpu() of a CPU tensor": lambda: (lambda t: (t, t.cpu()))(cpu(2)),  # noqa: PLC3002
    "to its own dtype": lambda: (lambda t: (t, t.float()))(gpu(2)),  # noqa: PLC3002
}


@each(SAME)
def test_a_move_to_where_it_is_returns_the_tensor_itself(row):
    tensor, moved = row()
    assert moved is tensor


def test_a_copy_may_be_asked_for():
    tensor = gpu(2)
    copied = tensor.to("cuda", copy=True)
    assert copied is not tensor
    assert copied.data_ptr() != tensor.data_ptr()


def test_a_move_copies():
    tensor = torch.zeros(2)
    moved = tensor.cuda()
    moved += 1
    assert (tensor.tolist(), moved.tolist()) == ([0.0, 0.0], [1.0, 1.0])


def test_a_move_back_copies_too():
    tensor = torch.zeros(2, device="cuda")
    tensor.cpu().add_(1)
    assert tensor.tolist() == [0.0, 0.0]


def test_a_move_that_is_thrown_away_moves_nothing():
    tensor = cpu(2)
    tensor.cuda()
    assert tensor.device == CPU


@pytest.mark.parametrize("dtype", [torch.float16, torch.int64, torch.bool, torch.complex64])
def test_device_and_dtype_change_in_one_move(dtype):
    moved = torch.tensor([1.0, 0.0]).to("cuda", dtype)
    assert (moved.device, moved.dtype) == (GPU, dtype)


def test_a_view_moves_alone():
    moved = torch.arange(6.0).view(2, 3)[1].cuda()
    assert (moved.device, moved.tolist()) == (GPU, [3.0, 4.0, 5.0])


def test_strides_are_kept():
    assert cpu(2, 3).t().cuda().stride() == (1, 3)


def test_the_memory_format_may_change():
    moved = cpu(1, 2, 3, 3).to("cuda", memory_format=torch.channels_last)
    assert moved.is_contiguous(memory_format=torch.channels_last)


def test_an_empty_tensor_moves():
    assert torch.empty(0, 3).cuda().device == GPU


def test_a_tensor_moves_to_meta():
    assert gpu(2).to("meta").device.type == "meta"


MISSING = {
    'to("cuda:99")': lambda: cpu(1).to("cuda:99"),
    "cuda(99)": lambda: cpu(1).cuda(99),
    "to(99)": lambda: cpu(1).to(99),
    "a factory": lambda: torch.zeros(1, device="cuda:99"),
}


@each(MISSING)
def test_there_is_no_such_device(row):
    refused(row, "invalid device ordinal")


def test_cuda_is_not_the_name_of_a_cpu():
    refused(lambda: cpu(1).cuda("cpu"), "Invalid device, must be cuda device")


def test_another_kind_of_accelerator_is_not_there():
    with pytest.raises((RuntimeError, AssertionError)):
        torch.zeros(1, device="xpu")


def test_whole_numbers_and_truth_values_move():
    assert ids(1, 2, on=CPU).cuda().dtype is torch.int64
    assert ids(True, on=CPU).cuda().dtype is torch.bool

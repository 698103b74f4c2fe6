"""Propagation: how a tensor says where it is."""

import pytest
import torch
from torch import nn

from tests.conformance.given import CPU, GPU, cpu, each, gpu, ids

SAYS = {
    "device": (lambda t: t.device, GPU),
    "str(device)": (lambda t: str(t.device), "cuda:0"),
    "repr(device)": (lambda t: repr(t.device), "device(type='cuda', index=0)"),
    "device.type": (lambda t: t.device.type, "cuda"),
    "device.index": (lambda t: t.device.index, 0),
    "is_cuda": (lambda t: t.is_cuda, True),
    "is_cpu": (lambda t: t.is_cpu, False),
    "is_meta": (lambda t: t.is_meta, False),
    "is_mps": (lambda t: t.is_mps, False),
    "is_xpu": (lambda t: t.is_xpu, False),
    "get_device": (lambda t: t.get_device(), 0),
    "torch.get_device": (torch.get_device, 0),
    "type": (lambda t: t.type(), "torch.cuda.FloatTensor"),
    "type of doubles": (lambda t: t.double().type(), "torch.cuda.DoubleTensor"),
    "type of whole numbers": (lambda t: t.long().type(), "torch.cuda.LongTensor"),
    "type of halves": (lambda t: t.half().type(), "torch.cuda.HalfTensor"),
    "type of truth values": (lambda t: (t > 1).type(), "torch.cuda.BoolTensor"),
    "its Python type": (type, torch.Tensor),
    "is_pinned": (lambda t: t.is_pinned(), False),
    "the device of its storage": (lambda t: t.untyped_storage().device, GPU),
    "is_cuda of its storage": (lambda t: t.untyped_storage().is_cuda, True),
    "isinstance of the CUDA class": (lambda t: isinstance(t, torch.cuda.FloatTensor), True),
    "isinstance of the CPU class": (lambda t: isinstance(t, torch.FloatTensor), False),
    "isinstance of another dtype's": (lambda t: isinstance(t, torch.cuda.LongTensor), False),
    "equality with a device that has an index": (
        lambda t: t.device == torch.device("cuda:0"),
        True,
    ),
    "equality with one that has none": (lambda t: t.device == torch.device("cuda"), False),
    "equality with the CPU": (lambda t: t.device == torch.device("cpu"), False),
    "whether all are on one device": (lambda t: len({t.device, t[0].device}), 1),
}


@each(SAYS)
def test_a_cuda_tensor_says(row):
    ask, answer = row
    assert ask(gpu(2)) == answer


SAYS_ON_CPU = {
    "device": (lambda t: t.device, CPU),
    "is_cuda": (lambda t: t.is_cuda, False),
    "is_cpu": (lambda t: t.is_cpu, True),
    "get_device": (lambda t: t.get_device(), -1),
    "type": (lambda t: t.type(), "torch.FloatTensor"),
    "isinstance of the CUDA class": (lambda t: isinstance(t, torch.cuda.FloatTensor), False),
    "isinstance of the CPU class": (lambda t: isinstance(t, torch.FloatTensor), True),
    "the device of its storage": (lambda t: t.untyped_storage().device, CPU),
}


@each(SAYS_ON_CPU)
def test_a_cpu_tensor_says(row):
    ask, answer = row
    assert ask(cpu(2)) == answer


PRINTED = {
    "numbers": (
        lambda: torch.tensor([1.0, 2.0], device="cuda"),
        "tensor([1., 2.], device='cuda:0')",
    ),
    "one number": (lambda: torch.tensor(3.5, device="cuda"), "tensor(3.5000, device='cuda:0')"),
    "whole numbers": (lambda: ids(1, 2), "tensor([1, 2], device='cuda:0')"),
    "truth values": (lambda: ids(True), "tensor([True], device='cuda:0')"),
    "none at all": (lambda: torch.empty(0, device="cuda"), "tensor([], device='cuda:0')"),
    "another dtype": (
        lambda: torch.ones(1, dtype=torch.float16, device="cuda"),
        "tensor([1.], device='cuda:0', dtype=torch.float16)",
    ),
    "a leaf": (
        lambda: torch.ones(1, device="cuda", requires_grad=True),
        "tensor([1.], device='cuda:0', requires_grad=True)",
    ),
    "a result": (
        lambda: torch.ones(1, device="cuda", requires_grad=True) * 2,
        "tensor([2.], device='cuda:0', grad_fn=<MulBackward0>)",
    ),
    "what was moved": (
        lambda: torch.ones(1, requires_grad=True).cuda(),
        "tensor([1.], device='cuda:0', grad_fn=<ToCopyBackward0>)",
    ),
    "a parameter": (
        lambda: nn.Parameter(torch.ones(1, device="cuda")),
        "Parameter containing:\ntensor([1.], device='cuda:0', requires_grad=True)",
    ),
    "a CPU tensor": (lambda: torch.ones(1), "tensor([1.])"),
    "a device": (lambda: torch.device("cuda", 1), "device(type='cuda', index=1)"),
    "a module": (
        lambda: nn.Linear(2, 1).cuda(),
        "Linear(in_features=2, out_features=1, bias=True)",
    ),
}


@each(PRINTED)
def test_it_prints_its_device_where_that_is_not_the_cpu(row):
    make, text = row
    assert repr(make()) == text


def test_a_long_tensor_is_shortened_as_ever():
    assert (
        str(torch.zeros(2000, device="cuda"))
        == "tensor([0., 0., 0.,  ..., 0., 0., 0.], device='cuda:0')"
    )


DEVICES = {
    "of a number": (lambda: torch.device(1), torch.device("cuda", 1)),
    "of a name": (lambda: torch.device("cuda:1"), torch.device("cuda", 1)),
    "of a device": (lambda: torch.device(torch.device("cuda:1")), torch.device("cuda", 1)),
    "by keyword": (lambda: torch.device(type="cuda", index=1), torch.device("cuda:1")),
    "its index, where none was said": (lambda: torch.device("cuda").index, None),
    "its name": (lambda: str(torch.device("cuda")), "cuda"),
}


@each(DEVICES)
def test_a_device(row):
    make, value = row
    assert make() == value


def test_a_device_is_not_its_name():
    assert torch.device("cuda:0") != "cuda:0"


def test_a_misspelt_device_is_refused():
    with pytest.raises(RuntimeError, match="device string"):
        torch.device("gpu")

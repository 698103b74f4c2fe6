"""Rules: what may cross between devices, or read a CUDA tensor from the host."""

import copy
import math

import pytest
import torch
from torch import nn

from tests.conformance.given import CPU, GPU, cpu, each, gpu, ids, places
from tests.conformance.texts import ANY, refused

COPIES = {
    "copy_ to CUDA": (lambda: torch.empty(3, device="cuda").copy_(cpu(3)), "cuda:0"),
    "copy_ to the CPU": (lambda: torch.empty(3).copy_(gpu(3)), "cpu"),
    "copy_ of another dtype": (lambda: gpu(3).copy_(ids(1, 2, 3, on=CPU)), "cuda:0"),
    "copy_ of one number": (lambda: gpu(3).copy_(cpu()), "cuda:0"),
    "copy_, not waiting": (lambda: gpu(3).copy_(cpu(3), non_blocking=True), "cuda:0"),
    "copy_ into a slice": (lambda: gpu(3)[:2].copy_(cpu(2)), "cuda:0"),
    "type_as a CUDA tensor": (lambda: cpu(3).type_as(gpu(1)), "cuda:0"),
    "type_as a CPU tensor": (lambda: gpu(3).type_as(cpu(1)), "cpu"),
    "to, as a CUDA tensor is": (lambda: cpu(3).to(gpu(1)), "cuda:0"),
    "expand_as": (lambda: cpu(1).expand_as(gpu(3)), "cpu"),
    "view_as": (lambda: gpu(4).view_as(cpu(2, 2)), "cuda:0"),
    "reshape_as": (lambda: gpu(4).reshape_as(cpu(2, 2)), "cuda:0"),
    "zeros_like": (lambda: torch.zeros_like(gpu(3)), "cuda:0"),
    "zeros_like on the CPU": (lambda: torch.zeros_like(gpu(3), device="cpu"), "cpu"),
    "fill_ with a CPU number": (lambda: gpu(3).fill_(cpu()), "cuda:0"),
    "repeat_interleave by a number": (lambda: gpu(3).repeat_interleave(2), "cuda:0"),
    "split at numbers": (lambda: gpu(3).split([1, 2]), "cuda:0"),
    "tensor_split at CPU indices": (
        lambda: gpu(3).tensor_split(ids(1, on=CPU)),
        "cuda:0",
    ),
    "an unused CPU tensor beside": (lambda: [gpu(3) + 1, cpu(3) + 1][0], "cuda:0"),
}


@each(COPIES)
def test_it_may_cross(row):
    call, where = row
    assert places(call()) == {where}


def test_copy_keeps_the_values():
    target = torch.empty(3, device="cuda")
    target.copy_(torch.tensor([1.0, 2.0, 3.0]))
    assert target.tolist() == [1.0, 2.0, 3.0]


def test_foreach_copy_crosses():
    targets = [torch.zeros(2, device="cuda"), torch.zeros(1, device="cuda")]
    torch._foreach_copy_(targets, [torch.ones(2), torch.ones(1)])
    assert [target.tolist() for target in targets] == [[1.0, 1.0], [1.0]]


def test_tensor_split_refuses_cuda_indices():
    refused(
        lambda: gpu(3).tensor_split(ids(1)),
        "tensor_split expected tensor_indices_or_sections to be on cpu, but it's on cuda:0",
    )


def test_foreach_arithmetic_does_not_cross():
    refused(lambda: torch._foreach_add([gpu(2)], [cpu(2)]), ANY)


HOST = {
    "item": (lambda t: t.item(), 2.5),
    "float": (float, 2.5),
    "int": (int, 2),
    "bool": (bool, True),
    "complex": (complex, 2.5 + 0j),
    "tolist": (lambda t: t.tolist(), 2.5),
    "round": (lambda t: round(t.item()), 2),
    "math.exp": (math.exp, math.exp(2.5)),
    "a comparison": (lambda t: bool(t > 2), True),
    "a format": ("{:.1f}".format, "2.5"),
    "an f-string": (lambda t: f"{t:.2f}", "2.50"),
    "numpy of what was copied to the host": (lambda t: float(t.cpu().numpy()), 2.5),
}


@each(HOST)
def test_a_number_on_cuda_may_be_read(row):
    read, value = row
    assert read(torch.tensor(2.5, device="cuda")) == value


def test_a_whole_number_on_cuda_is_an_index():
    assert list(range(torch.tensor(3, device="cuda"))) == [0, 1, 2]


def test_a_cuda_tensor_may_be_iterated_over():
    assert [element.device for element in gpu(2)] == [GPU, GPU]


def test_its_length_and_shape_are_known():
    tensor = gpu(2, 3)
    assert (len(tensor), tensor.shape, tensor.numel(), tensor.dim()) == (2, (2, 3), 6, 2)


def test_an_element_is_found_in_it():
    assert 2.0 in torch.tensor([1.0, 2.0], device="cuda")


@pytest.mark.filterwarnings("ignore:To copy construct from a tensor")
def test_tensor_of_a_cuda_tensor_stays_there():
    assert torch.tensor(gpu(3)).device == GPU


def test_tensor_of_a_list_of_cuda_numbers_is_on_the_cpu():
    assert torch.tensor([gpu(), gpu()]).device == CPU


def test_as_tensor_gives_the_same_tensor():
    tensor = gpu(3)
    assert torch.as_tensor(tensor) is tensor


def test_as_tensor_may_move():
    assert torch.as_tensor(cpu(3), device="cuda").device == GPU
    assert torch.as_tensor(gpu(3), device="cpu").device == CPU


def test_a_cuda_tensor_is_a_key_by_identity():
    one, other = gpu(1), gpu(1)
    assert {one: "one", other: "other"}[one] == "one"


def test_a_state_dict_crosses_into_a_module():
    there = nn.Linear(2, 2).cuda()
    here = nn.Linear(2, 2)
    there.load_state_dict(here.state_dict())
    assert places(there.state_dict()) == {"cuda:0"}
    assert there.weight.tolist() == here.weight.tolist()
    here.load_state_dict(there.state_dict())
    assert places(here.state_dict()) == {"cpu"}


def test_assigning_a_state_dict_brings_its_device():
    there = nn.Linear(2, 2).cuda()
    there.load_state_dict(nn.Linear(2, 2).state_dict(), assign=True)
    assert places(dict(there.named_parameters())) == {"cpu"}


def test_a_deep_copy_stays():
    module = nn.Linear(2, 2).cuda()
    assert places([copy.deepcopy(gpu(2)), *copy.deepcopy(module).parameters()]) == {"cuda:0"}


def test_assert_close_looks_at_the_device():
    ours = torch.ones(2, device="cuda")
    torch.testing.assert_close(ours, torch.ones(2, device="cuda"))
    torch.testing.assert_close(ours, torch.ones(2), check_device=False)
    refused(
        lambda: torch.testing.assert_close(ours, torch.ones(2)),
        "The values for attribute 'device' do not match: cuda:0 != cpu.",
        AssertionError,
    )


def test_lengths_of_a_packed_sequence_stay_on_the_cpu():
    packed = nn.utils.rnn.pack_padded_sequence(gpu(3, 2, 4), torch.tensor([3, 2]))
    assert (packed.data.device, packed.batch_sizes.device) == (GPU, CPU)
    _, lengths = nn.utils.rnn.pad_packed_sequence(packed)
    assert lengths.device == CPU


def test_lengths_on_cuda_are_refused():
    refused(
        lambda: nn.utils.rnn.pack_padded_sequence(gpu(3, 2, 4), ids(3, 2)),
        "'lengths' argument should be a 1D CPU int64 tensor, but got 1D cuda:0 Long tensor",
    )

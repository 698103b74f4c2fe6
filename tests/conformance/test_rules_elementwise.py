"""Rules: elementwise operators (TensorIterator). One 0-dim CPU tensor may be among their inputs."""

import math

import torch
from torch.nn import functional

from tests.conformance.given import CPU, cpu, each, gpu, ids, places
from tests.conformance.texts import elementwise, refused

REFUSED = {
    "add": lambda: gpu(3) + cpu(3),
    "add, the CPU tensor first": lambda: cpu(3) + gpu(3),
    "sub": lambda: gpu(3) - cpu(3),
    "mul": lambda: gpu(3) * cpu(3),
    "div": lambda: gpu(3) / cpu(3),
    "floor division": lambda: gpu(3) // cpu(3),
    "remainder": lambda: gpu(3) % cpu(3),
    "pow": lambda: gpu(3) ** cpu(3),
    "comparison": lambda: gpu(3) > cpu(3),
    "equality": lambda: gpu(3) == cpu(3),
    "logical and": lambda: torch.logical_and(gpu(3), cpu(3)),
    "bitwise and": lambda: ids(1, 2) & ids(1, 2, on=CPU),
    "maximum": lambda: torch.maximum(gpu(3), cpu(3)),
    "minimum": lambda: torch.minimum(cpu(3), gpu(3)),
    "max of two tensors": lambda: torch.max(gpu(3), cpu(3)),
    "atan2": lambda: torch.atan2(gpu(3), cpu(3)),
    "fmod": lambda: torch.fmod(gpu(3), cpu(3)),
    "isclose": lambda: torch.isclose(gpu(3), cpu(3)),
    "lerp": lambda: torch.lerp(gpu(3), cpu(3), 0.5),
    "addcmul": lambda: torch.addcmul(gpu(3), gpu(3), cpu(3)),
    "addcdiv": lambda: torch.addcdiv(gpu(3), cpu(3), gpu(3)),
    "where, one of its values": lambda: torch.where(gpu(3) > 1, gpu(3), cpu(3)),
    "where, its condition": lambda: torch.where(cpu(3) > 1, gpu(3), gpu(3)),
    "a broadcast tensor of one element": lambda: gpu(3) + cpu(1),
    "a CPU column and a CUDA row": lambda: cpu(3, 1) * gpu(1, 3),
    "mse_loss": lambda: functional.mse_loss(gpu(3), cpu(3)),
    "l1_loss": lambda: functional.l1_loss(gpu(3), cpu(3)),
    "smooth_l1_loss": lambda: functional.smooth_l1_loss(cpu(3), gpu(3)),
    "binary_cross_entropy": lambda: functional.binary_cross_entropy(gpu(3) / 2, cpu(3) / 2),
    "binary_cross_entropy_with_logits": (
        lambda: functional.binary_cross_entropy_with_logits(gpu(3), cpu(3))
    ),
    "binary_cross_entropy_with_logits, pos_weight": (
        lambda: functional.binary_cross_entropy_with_logits(gpu(3), gpu(3), pos_weight=cpu(3))
    ),
    "kl_div": lambda: functional.kl_div(gpu(3), cpu(3), reduction="sum"),
    "a mask multiplied with scores": lambda: gpu(2, 3, 3) + cpu(3, 3).triu(),
}


@each(REFUSED)
def test_it_refuses_two_devices_and_names_both(row):
    refused(row, elementwise())


IN_PLACE = {
    "CUDA += CPU": lambda: gpu(3).add_(cpu(3)),
    "CPU += CUDA": lambda: cpu(3).add_(gpu(3)),
    "CPU += 0-dim CUDA": lambda: cpu(3).add_(gpu()),
    "0-dim CPU += 0-dim CUDA, a running loss": lambda: torch.tensor(0.0).add_(gpu()),
    "CPU *= 0-dim CUDA": lambda: cpu(3).mul_(gpu()),
    "addcmul_": lambda: gpu(3).addcmul_(cpu(3), gpu(3)),
    "lerp_": lambda: gpu(3).lerp_(cpu(3), 0.5),
}


@each(IN_PLACE)
def test_what_is_written_to_is_never_excused(row):
    refused(row, elementwise())


def test_out_on_the_cpu_is_refused():
    refused(lambda: torch.add(gpu(3), gpu(3), out=torch.empty(3)), elementwise())


def test_out_on_cuda_is_refused_for_cpu_operands():
    refused(lambda: torch.add(cpu(3), cpu(3), out=torch.empty(3, device="cuda")), elementwise())


ZERO_DIMENSIONAL = {
    "CPU number + CUDA": lambda: cpu() + gpu(3),
    "CUDA - CPU number": lambda: gpu(3) - cpu(),
    "CUDA * CPU number": lambda: gpu(3) * cpu(),
    "CPU number / CUDA": lambda: cpu() / gpu(3),
    "CUDA ** CPU number": lambda: gpu(3) ** cpu(),
    "CPU number ** CUDA": lambda: cpu() ** gpu(3),
    "CUDA > CPU number": lambda: gpu(3) > cpu(),
    "CPU number == CUDA": lambda: cpu() == gpu(3),
    "maximum": lambda: torch.maximum(gpu(3), cpu()),
    "CUDA += CPU number": lambda: gpu(3).add_(cpu()),
    "CUDA /= CPU number": lambda: gpu(3).div_(cpu()),
    "both 0-dim": lambda: gpu() + cpu(),
    "both 0-dim, the CPU number first": lambda: cpu() * gpu(),
    "where, the first value": lambda: torch.where(gpu(3) > 1, cpu(), gpu(3)),
    "where, the second value": lambda: torch.where(gpu(3) > 1, gpu(3), cpu()),
    "where, both values": lambda: torch.where(gpu(3) > 1, cpu(), cpu()),
    "where, a value and a number": lambda: torch.where(gpu(3) > 1, cpu(), 0.0),
    "masked_fill": lambda: gpu(3).masked_fill(ids(True, False, True), cpu()),
    "lerp's weight": lambda: torch.lerp(gpu(3), gpu(3), cpu()),
    "the mean of a CPU loss": lambda: gpu(3) * cpu(3).mean(),
    "an element of a CPU tensor": lambda: gpu(3) * cpu(3)[1],
    "mse_loss": lambda: (gpu(3) - cpu()).pow(2).mean(),
}


@each(ZERO_DIMENSIONAL)
def test_a_zero_dimensional_cpu_tensor_joins_cuda(row):
    assert places(row()) == {"cuda:0"}


def test_the_value_of_the_zero_dimensional_tensor_counts():
    result = torch.ones(2, device="cuda") * torch.tensor(3.0)
    assert result.tolist() == [3.0, 3.0]


def test_only_one_of_the_inputs_may_be_such():
    refused(
        lambda: torch.lerp(cpu(), gpu(3), cpu()),
        "Trying to pass too many CPU scalars to non-CPU kernel!",
    )


def test_a_zero_dimensional_cuda_tensor_does_not_join_the_cpu():
    refused(lambda: cpu(3) * gpu(), elementwise())


def test_numbers_of_python_and_numpy_join_everything():
    assert places([gpu(3) + 1, 2.0 * gpu(3), gpu(3) ** math.pi, 1 - gpu(3)]) == {"cuda:0"}


def test_masked_fill_says_where_the_mask_is():
    refused(
        lambda: gpu(3).masked_fill(ids(True, False, True, on=CPU), 0.0),
        "expected self and mask to be on the same device, but got mask on cpu and self on cuda:0",
    )


def test_masked_fill_of_a_cpu_tensor_says_so_too():
    refused(
        lambda: cpu(3).masked_fill_(ids(True, False, True), 0.0),
        "expected self and mask to be on the same device, but got mask on cuda:0 and self on cpu",
    )

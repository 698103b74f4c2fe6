"""The double that plays an accelerator on `meta`: what it refuses, in CUDA's words, and allows."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from tests.guard.meta_gpu import MetaGpu

HERE = torch.ones(3, 3)
INDEX = torch.tensor([0, 1, 2])
NUMBER = torch.tensor(2.0)
THERE = torch.ones(3, 3, device="meta")
INDEX_THERE = torch.zeros(3, dtype=torch.long, device="meta")
SAME = "Expected all tensors to be on the same device, but "


def put(tensor, index, value):
    tensor[index] = value
    return tensor


REFUSED = {
    "sum": (lambda: THERE + HERE, f"{SAME}found at least two devices, meta and cpu!"),
    "sum with one number in it": (lambda: THERE + torch.ones(1), "found at least two devices"),
    "sum written to the CPU": (lambda: NUMBER.clone().add_(THERE.sum()), "at least two devices"),
    "product": (lambda: THERE @ HERE, "got mat2 is on cpu, different from other tensors on meta"),
    "list": (lambda: torch.cat([THERE, HERE]), "found at least two devices"),
    "linear": (
        lambda: nn.Linear(3, 3).to("meta")(HERE),
        (
            rf"{SAME}got mat1 is on cpu, different from other tensors on meta \(when checking "
            r"argument in method wrapper_CUDA_addmm\)"
        ),
    ),
    "linear on the CPU": (
        lambda: nn.Linear(3, 3)(THERE),
        "got mat1 is on meta, different from other tensors on cpu",
    ),
    "embedding": (lambda: nn.Embedding(3, 3).to("meta")(INDEX), "got index is on cpu"),
    "convolution": (
        lambda: nn.Conv1d(3, 3, 1).to("meta")(HERE),
        (
            r"Input type \(torch.FloatTensor\) and weight type \(torch.cuda.FloatTensor\) should "
            "be the same or input should be a MKLDNN tensor and weight is a dense tensor"
        ),
    ),
    "network with a state": (
        lambda: nn.GRU(3, 3).to("meta")(THERE, torch.zeros(1, 3)),
        (
            "Input and hidden tensors are not at the same device, found input tensor at meta and "
            "hidden tensor at cpu"
        ),
    ),
    "recurrent network": (
        lambda: nn.LSTM(3, 3)(THERE),
        (
            "Input and parameter tensors are not at the same device, found input tensor at meta "
            "and parameter tensor at cpu"
        ),
    ),
    "index": (
        lambda: HERE[INDEX_THERE],
        r"indices should be either on cpu or on the same device as the indexed tensor \(cpu\)",
    ),
    "value put at an index": (lambda: put(THERE, INDEX, HERE), "got values is on cpu"),
    "mask": (
        lambda: THERE.masked_fill(HERE > 0, 0),
        "expected self and mask to be on the same device, but got mask on cpu and self on meta",
    ),
    "loss": (lambda: F.cross_entropy(THERE, INDEX), "got target is on cpu.*nll_loss_forward"),
    "weights of a loss": (
        lambda: F.cross_entropy(THERE, INDEX_THERE, weight=torch.ones(3)),
        "got weight is on cpu",
    ),
    "lengths": (
        lambda: pack_padded_sequence(THERE[None], INDEX_THERE[:1]),
        "'lengths' argument should be a 1D CPU int64 tensor, but got 1D meta Long tensor",
    ),
    "array": (THERE.numpy, "can't convert meta device type tensor to numpy"),
    "array asked for": (lambda: np.asarray(THERE), "can't convert meta device type tensor"),
}

ALLOWED = {
    "number": lambda: THERE + NUMBER,
    "two numbers in a choice": lambda: torch.where(THERE > 0, NUMBER, THERE),
    "index": lambda: THERE[INDEX],
    "mask": lambda: THERE[torch.tensor([True, False, True])],
    "mask there": lambda: THERE[THERE > 0],
    "number put at an index": lambda: put(THERE.clone(), INDEX, NUMBER),
    "slice": lambda: put(THERE.clone(), slice(0, 3), HERE),
    "copy": lambda: torch.empty(3, 3, device="meta").copy_(HERE),
    "move": lambda: HERE.to("meta", non_blocking=True),
    "move like another": lambda: HERE.type_as(THERE),
}

READ = {
    "item": lambda: THERE.sum().item() == 0,
    "list": lambda: THERE[0].tolist() == [0, 0, 0],
    "truth": lambda: not (THERE.sum() > 1),
    "text": lambda: f"{THERE.sum():.2f}" == "0.00",
    "array": lambda: THERE.cpu().numpy().sum() == 0,
    "slice of the CPU": lambda: put(HERE.clone(), slice(0, 3), THERE).sum() == 0,
    "number as an index": lambda: HERE[INDEX_THERE[0]].tolist() == [1, 1, 1],
    "what was brought there": lambda: INDEX.to("meta").cpu().tolist() == [0, 1, 2],
}


@pytest.mark.parametrize(("action", "text"), REFUSED.values(), ids=list(REFUSED))
def test_it_refuses_what_cuda_refuses(action, text):
    with pytest.raises((RuntimeError, TypeError), match=text), MetaGpu():
        action()


@pytest.mark.parametrize("action", ALLOWED.values(), ids=list(ALLOWED))
def test_it_allows_what_cuda_allows(action):
    with MetaGpu():
        assert action().device.type == "meta"


@pytest.mark.parametrize("action", READ.values(), ids=list(READ))
def test_it_hands_data_to_the_host(action):
    with MetaGpu():
        assert action()


def test_a_gradient_goes_back_to_the_device_it_came_from():
    weight, scale = torch.ones(3, requires_grad=True), torch.tensor(1.0, requires_grad=True)
    with MetaGpu():
        (weight.to("meta") * scale).to("cpu").sum().backward()
    assert weight.grad is not None
    assert scale.grad is not None
    assert weight.grad.device.type == scale.grad.device.type == "cpu"


def test_a_model_keeps_its_parameters_when_it_moves():
    model = nn.Linear(3, 3)
    weight, optimizer = model.weight, torch.optim.Adam(model.parameters())
    with MetaGpu():
        model.to("meta")(THERE).sum().backward()
        optimizer.step()
    assert model.weight is weight
    assert weight.device.type == "meta"
    assert optimizer.state[weight]["exp_avg"].device.type == "meta"


def test_packed_sequences_have_their_sizes_on_the_cpu():
    with MetaGpu():
        lstm = nn.LSTM(3, 2, batch_first=True).to("meta")
        packed = pack_padded_sequence(
            torch.ones(2, 4, 3, device="meta"),
            torch.tensor([2, 4]),
            batch_first=True,
            enforce_sorted=False,
        )
        padded, lengths = pad_packed_sequence(lstm(packed)[0], batch_first=True)
    assert padded.shape == (2, 4, 2)
    assert lengths.device.type == packed.batch_sizes.device.type == "cpu"


def test_nothing_of_it_stays():
    before = [vars(module).copy() for module in (F, torch.functional)]
    swapping = torch.__future__.get_swap_module_params_on_conversion()
    with MetaGpu():
        assert vars(F) != before[0]
    assert [vars(module) for module in (F, torch.functional)] == before
    assert torch.__future__.get_swap_module_params_on_conversion() == swapping


def test_its_frames_count_as_those_of_torch():
    with pytest.raises(RuntimeError) as raised, MetaGpu():
        nn.Linear(3, 3).to("meta")(HERE)
    files = [str(entry.path) for entry in raised.traceback]
    assert files[0] == __file__
    assert [file for file in files if "tests" in file] == [__file__]

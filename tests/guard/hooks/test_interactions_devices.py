"""What may lie on the CPU beside an accelerator passes; the nearest thing that may not is found.

On the virtual GPU what is right is seen to run, and what is wrong fails without a guard as well.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.nn.utils import parametrizations
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

import runtime_guard
from runtime_guard import DeviceMismatchError, DeviceMismatchWarning, virtual_gpu
from tests.guard.protection import both

ones, arange, tensor = torch.ones, torch.arange, torch.tensor


class Lengths(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.LSTM(4, 3, batch_first=True)

    def forward(self, batch, lengths):
        packed = pack_padded_sequence(batch, lengths, batch_first=True, enforce_sorted=False)
        return pad_packed_sequence(self.rnn(packed)[0], batch_first=True)[0]


class Packed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.GRU(4, 3)

    def forward(self, packed):
        return self.rnn(packed)[0].data


class Table(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rows = nn.Parameter(ones(5, 4))

    def forward(self, index, scale=None):
        picked = self.rows[index]
        return picked if scale is None else picked * scale


class Moving(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 2)

    def forward(self, batch):
        return self.layer(batch.to(self.layer.weight.device))


class Passing(Moving):
    def forward(self, batch):
        return self.layer(batch)


def there(value: torch.Tensor) -> torch.Tensor:
    return value.to("cuda")


def packed() -> Any:
    return pack_padded_sequence(ones(3, 2, 4), tensor([3, 2]))


class Call(NamedTuple):
    model: Callable[[], nn.Module]
    arguments: Callable[[], tuple[Any, ...]]


def classes() -> torch.Tensor:
    return tensor([0, 1, 2])


# What is right, and the nearest to it that is wrong.
ROWS = {
    "batch sizes": (
        Call(Packed, lambda: (packed().to("cuda"),)),
        Call(Packed, lambda: (packed(),)),
    ),
    "lengths": (
        Call(Lengths, lambda: (there(ones(2, 3, 4)), tensor([3, 2]))),
        Call(Lengths, lambda: (ones(2, 3, 4), tensor([3, 2]))),
    ),
    "0-dim": (
        Call(Table, lambda: (there(arange(2)), tensor(2.0))),
        Call(Table, lambda: (there(arange(2)), tensor([2.0]))),
    ),
    "index": (
        Call(Table, lambda: (arange(2),)),
        Call(lambda: nn.Embedding(5, 4), lambda: (arange(2),)),
    ),
    "moved in forward": (
        Call(Moving, lambda: (ones(3, 4),)),
        Call(Passing, lambda: (ones(3, 4),)),
    ),
    "criterion of classes": (
        Call(nn.CrossEntropyLoss, lambda: (there(ones(3, 4)), there(classes()))),
        Call(nn.CrossEntropyLoss, lambda: (there(ones(3, 4)), classes())),
    ),
    "criterion with a weight": (
        Call(lambda: nn.NLLLoss(ones(4)), lambda: (there(ones(3, 4)), there(classes()))),
        Call(lambda: nn.NLLLoss(ones(4)), lambda: (there(ones(3, 4)), classes())),
    ),
    "criterion of numbers": (
        Call(nn.MSELoss, lambda: (there(ones(3)), there(ones(3)))),
        Call(nn.MSELoss, lambda: (there(ones(3)), ones(3))),
    ),
    "criterion of a 0-dim target": (
        Call(nn.MSELoss, lambda: (there(ones(())), there(ones(())))),
        Call(nn.MSELoss, lambda: (there(ones(1)), ones(1))),
    ),
    "criterion of probabilities": (
        Call(nn.BCELoss, lambda: (there(ones(3)), there(ones(3)))),
        Call(nn.BCELoss, lambda: (there(ones(3)), ones(3))),
    ),
    "parametrized": (
        Call(lambda: parametrizations.weight_norm(nn.Linear(4, 2)), lambda: (there(ones(3, 4)),)),
        Call(lambda: parametrizations.weight_norm(nn.Linear(4, 2)), lambda: (ones(3, 4),)),
    ),
    "parametrized without a bias": (
        Call(
            lambda: parametrizations.weight_norm(nn.Linear(4, 2, bias=False)),
            lambda: (there(ones(3, 4)),),
        ),
        Call(
            lambda: parametrizations.weight_norm(nn.Linear(4, 2, bias=False)),
            lambda: (ones(3, 4),),
        ),
    ),
    "weight norm by hooks": (
        Call(lambda: nn.utils.weight_norm(nn.Linear(4, 2)), lambda: (there(ones(3, 4)),)),
        Call(lambda: nn.utils.weight_norm(nn.Linear(4, 2)), lambda: (ones(3, 4),)),
    ),
}
weight_norm_is_old = pytest.mark.filterwarnings("ignore:.*weight_norm.*:FutureWarning")


@both
@weight_norm_is_old
@pytest.mark.parametrize("row", ROWS)
def test_what_runs_on_an_accelerator_runs_under_the_guard(protect, row):
    right = ROWS[row][0]
    with virtual_gpu():
        model = right.model().to("cuda")
        expected = model(*right.arguments())
        with protect(model) as handle:
            given = model(*right.arguments())
    assert (given.shape, given.device) == (expected.shape, expected.device)
    assert handle.mismatches == []


@both
@weight_norm_is_old
@pytest.mark.parametrize("row", ROWS)
def test_what_fails_on_an_accelerator_is_found_by_the_guard(protect, row):
    wrong = ROWS[row][1]
    with virtual_gpu():
        model = wrong.model().to("cuda")
        with pytest.raises((RuntimeError, NotImplementedError)):
            model(*wrong.arguments())
        with protect(model), pytest.raises(DeviceMismatchError):
            model(*wrong.arguments())


@both
def test_a_functional_loss_is_explained_when_it_fails(protect):
    model = nn.Linear(4, 4)
    with pytest.raises(RuntimeError) as caught, virtual_gpu(), protect(model.to("cuda")):
        functional.cross_entropy(model(there(ones(3, 4))), classes())
    assert not isinstance(caught.value, DeviceMismatchError)
    assert "runtime_guard" in "".join(traceback.format_exception_only(caught.value))


@both
def test_parameters_on_meta_are_passed_over_unless_they_are_asked_for(protect):
    model = nn.Linear(4, 2, bias=False).to("meta")
    with protect(model):
        assert model(ones(3, 4)).shape == (3, 2)
    with protect(model, meta=True), pytest.raises(DeviceMismatchError):
        model(ones(3, 4))


@both
def test_a_lazy_model_gets_its_parameters_and_is_guarded_from_then_on(protect):
    model = nn.Sequential(nn.LazyLinear(3), nn.LazyBatchNorm1d(), nn.LazyLinear(2))
    with virtual_gpu(), protect(model):
        assert model(ones(3, 4)).shape == (3, 2)
        assert model[2].weight.shape == (2, 3)
        assert model(ones(3, 4)).shape == (3, 2)
        with pytest.raises(DeviceMismatchError):
            model(there(ones(3, 4)))


def test_a_lazy_model_is_the_same_kind_of_model_after_the_guard():
    model = nn.LazyLinear(3)
    with runtime_guard.guard(model):
        model(ones(3, 4))
    assert type(model) is nn.Linear
    assert not model._forward_pre_hooks
    assert not model._forward_pre_hooks_with_kwargs


@both
def test_a_parametrization_is_called_as_without(protect):
    class Doubled(nn.Module):
        def forward(self, weight):
            return 2 * weight

    model = nn.Linear(4, 2)
    nn.utils.parametrize.register_parametrization(model, "weight", Doubled())
    expected = model(ones(3, 4))
    with protect(model, meta=True), nn.utils.parametrize.cached():
        assert torch.equal(model(ones(3, 4)), expected)
        assert torch.equal(model(ones(3, 4)), expected)


@both
def test_moving_gives_what_the_right_device_gives(protect):
    with virtual_gpu():
        model = Passing().to("cuda")
        with protect(model, action="move") as handle, pytest.warns(DeviceMismatchWarning):
            assert model(ones(3, 4)).device.type == "cuda"
    assert [moved.bytes for moved in handle.moved] == [48]

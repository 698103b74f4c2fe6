from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import pytest
import torch
from accelerate import Accelerator, cpu_offload, dispatch_model
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from runtime_guard import DeviceMismatchError, guard

ROWS = torch.randn(6, 4, generator=torch.Generator().manual_seed(0))
TARGETS = torch.arange(6) % 2


class Net(nn.Module):
    """Has a part that accelerate offloads, and a head that may be given something wrong."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU())
        self.head = nn.Linear(8, 2)
        self.wrong = False

    def forward(self, rows):
        features = self.body(rows)
        if self.wrong:
            features = torch.empty_like(features, device="meta")
        return self.head(features)


def net() -> Net:
    torch.manual_seed(0)
    return Net()


def dispatched(model: Net, folder: Any) -> None:
    dispatch_model(model.body, {"0": "cpu", "1": "disk", "2": "cpu"}, offload_dir=str(folder))


def offloaded(model: Net, folder: Any) -> None:
    cpu_offload(model.body, torch.device("cpu"), offload_buffers=True)


@pytest.mark.parametrize("place", [dispatched, offloaded])
@pytest.mark.parametrize("meta", [False, True])
def test_what_accelerate_places_runs_the_same_without_a_word(place, meta, tmp_path):
    expected = net().eval()(ROWS)
    model = net().eval()
    place(model, tmp_path)
    assert any(parameter.device.type == "meta" for parameter in model.body.parameters())
    with guard(model, meta=meta) as watch:
        assert torch.equal(model(ROWS), expected)
    assert watch.mismatches == []


@pytest.mark.parametrize("place", [dispatched, offloaded])
def test_a_mistake_beside_what_accelerate_places_is_told(place, tmp_path):
    model = net().eval()
    place(model, tmp_path)
    model.wrong = True
    with guard(model, meta=True), pytest.raises(DeviceMismatchError) as caught:
        model(ROWS)
    assert_the_head_is_told_of(caught.value)


def test_a_model_that_is_guarded_can_be_placed_as_well(tmp_path):
    expected = net().eval()(ROWS)
    model = net().eval()
    with guard(model, meta=True):
        offloaded(model, tmp_path)
        assert torch.equal(model(ROWS), expected)
        model.wrong = True
        with pytest.raises(DeviceMismatchError) as caught:
            model(ROWS)
    assert_the_head_is_told_of(caught.value)


def test_a_prepared_run_learns_the_same_without_a_word():
    assert losses_of(net(), guarded=True) == losses_of(net(), guarded=False)


def test_a_mistake_in_a_prepared_run_is_told():
    model = net()
    model.wrong = True
    with pytest.raises(DeviceMismatchError) as caught:
        losses_of(model, guarded=True)
    assert_the_head_is_told_of(caught.value)


def losses_of(model: Net, *, guarded: bool) -> list[float]:
    accelerator = Accelerator(cpu=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(TensorDataset(ROWS, TARGETS), batch_size=3)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    losses = []
    with guard(model, meta=True) if guarded else nullcontext() as watch:
        for rows, targets in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(rows), targets)
            accelerator.backward(loss)
            optimizer.step()
            losses.append(loss.item())
    assert watch is None or watch.steps_done == 2
    return losses


def assert_the_head_is_told_of(error: DeviceMismatchError) -> None:
    (found,) = error.mismatches
    assert (found.module, found.module_class) == ("head", "Linear")
    assert (found.argument, found.tensor.device, found.expected) == ("input", "meta", "cpu")
    assert found.failed_at is not None
    assert found.failed_at.text == "return self.head(features)"

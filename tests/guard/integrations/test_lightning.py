from __future__ import annotations

import importlib
import pickle
import sys
from copy import deepcopy
from typing import Any

import pytest
import torch
from lightning.fabric import Fabric
from lightning.pytorch import LightningModule, Trainer
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from runtime_guard import DeviceMismatchError, DeviceMismatchWarning, guard
from runtime_guard.lightning import DeviceGuard

pytestmark = [
    # Lightning flattens its loaders with a class of torch's that is on its way out.
    pytest.mark.filterwarnings("ignore:`isinstance.treespec, LeafSpec.` is deprecated"),
    # Its advice on real trainings: workers for the loaders, the size of a batch.
    pytest.mark.filterwarnings("ignore::lightning.fabric.utilities.warnings.PossibleUserWarning"),
]


class Net(LightningModule):
    """Trains rightly, but for the step that is told to put its batch on `meta`."""

    def __init__(self, wrong: str = "") -> None:
        super().__init__()
        # Without a bias, torch lets `meta` through: there is a head to be told of.
        self.encoder = nn.Sequential(nn.Linear(4, 8, bias=False), nn.ReLU())
        self.head = nn.Linear(8, 2)
        self.wrong = wrong
        self.losses: list[float] = []
        self.hooks: dict[str, int] = {}

    def forward(self, x):
        return self.head(self.encoder(x))

    def run(self, stage, batch):
        self.hooks[stage] = hooks_of(self)
        x, y = batch
        if stage == self.wrong:
            x = x.to("meta")
        return nn.functional.cross_entropy(self(x), y)

    def training_step(self, batch, index):
        loss = self.run("train", batch)
        self.losses.append(loss.item())
        return loss

    def validation_step(self, batch, index):
        self.run("validate", batch)

    def test_step(self, batch, index):
        self.run("test", batch)

    def predict_step(self, batch, index):
        return self.run("predict", batch)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def hooks_of(model: nn.Module) -> int:
    return sum(len(module._forward_pre_hooks) for module in model.modules())


def batches() -> Any:
    generator = torch.Generator().manual_seed(0)
    rows = torch.randn(9, 4, generator=generator)
    return DataLoader(TensorDataset(rows, torch.arange(9) % 2), batch_size=3)


def net(wrong: str = "") -> Net:
    torch.manual_seed(0)
    return Net(wrong)


def trainer(*callbacks: Any, **options: Any) -> Any:
    return Trainer(
        accelerator="cpu",
        max_epochs=1,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        callbacks=list(callbacks),
        **options,
    )


def test_a_right_run_learns_the_same_without_a_word():
    bare, guarded = net(), net()
    trainer().fit(bare, batches())
    watch = DeviceGuard()
    trainer(watch).fit(guarded, batches(), batches())
    assert guarded.losses == bare.losses
    assert len(guarded.losses) == 3
    assert watch.mismatches == ()
    assert guarded.hooks["train"] > 0
    assert hooks_of(guarded) == 0


def test_a_wrong_batch_is_told_with_module_argument_and_lines():
    model = net(wrong="train")
    watch = DeviceGuard(meta=True)
    with pytest.raises(DeviceMismatchError) as caught:
        trainer(watch).fit(model, batches())
    (found,) = caught.value.mismatches
    assert (found.module, found.module_class) == ("encoder.0", "Linear")
    assert (found.argument, found.tensor.device, found.expected) == ("input", "meta", "cpu")
    assert found.failed_at is not None
    assert found.failed_at.text == "return self.head(self.encoder(x))"
    assert found.entered_at is not None
    assert found.entered_at.text == "return nn.functional.cross_entropy(self(x), y)"
    assert watch.mismatches == (found,)
    assert hooks_of(model) == 0


@pytest.mark.parametrize("stage", ["validate", "test", "predict"])
def test_every_stage_is_guarded_from_its_start_to_its_end(stage):
    model = net(wrong=stage)
    watch = DeviceGuard(meta=True)
    with pytest.raises(DeviceMismatchError, match=r"encoder\.0 \(Linear\)"):
        getattr(trainer(watch), stage)(model, batches())
    assert hooks_of(model) == 0
    right = net()
    getattr(trainer(DeviceGuard()), stage)(right, batches())
    assert right.hooks[stage] > 0
    assert hooks_of(right) == 0


def test_validation_inside_of_fitting_leaves_training_guarded():
    model = net()
    trainer(DeviceGuard(), val_check_interval=1).fit(model, batches(), batches())
    assert model.hooks["train"] == model.hooks["validate"] > 0


def test_an_error_of_torch_is_explained():
    class Forgets(Net):
        def forward(self, x):
            mask = torch.ones(3, 8, device="meta")
            return self.head(self.encoder(x) * mask.numpy())

    model = Forgets()
    explained = r"to numpy[^$]*mask[^$]*self\.encoder\(x\) \* mask\.numpy\(\)"
    with pytest.raises(TypeError, match=explained):
        trainer(DeviceGuard()).fit(model, batches())
    assert hooks_of(model) == 0


def test_other_actions_and_options_reach_the_guard():
    model = net(wrong="train")
    watch = DeviceGuard(action="warn", meta=True, skip="encoder*")
    with pytest.warns(DeviceMismatchWarning, match="head"), pytest.raises(RuntimeError):
        trainer(watch).fit(model, batches())
    assert [found.module for found in watch.mismatches] == ["head"]
    with pytest.raises(ValueError, match="every is 0"):
        DeviceGuard(every=0)


def test_steps_end_the_check_and_not_the_run():
    model = net()
    watch = DeviceGuard(steps=1)
    trainer(watch, val_check_interval=1).fit(model, batches(), batches())
    assert len(model.losses) == 3
    assert model.hooks == {"train": 0, "validate": 0}


def test_a_callback_can_be_used_again_copied_and_pickled():
    watch = DeviceGuard(meta=True)
    with pytest.raises(DeviceMismatchError):
        trainer(watch).fit(net(wrong="train"), batches())
    assert watch.state_dict() == {}
    for other in (watch, deepcopy(watch), pickle.loads(pickle.dumps(watch))):
        assert len(other.mismatches) == 1
        trainer(other).fit(net(), batches())
        assert other.mismatches == ()


def test_fabric_needs_no_callback():
    model = net(wrong="train")
    fabric = Fabric(accelerator="cpu", devices=1)
    wrapped = fabric.setup(model)
    with guard(model, meta=True) as watch, pytest.raises(DeviceMismatchError):
        wrapped(torch.ones(3, 4).to("meta"))
    (found,) = watch.mismatches
    assert found.module == "encoder.0"
    wrapped(torch.ones(3, 4))


def test_the_other_name_of_the_library_serves_as_well(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightning.pytorch", None)
    for package in ("runtime_guard", "runtime_guard.integrations"):
        home = importlib.import_module(package)
        monkeypatch.delitem(sys.modules, f"{package}.lightning")
        # The import puts the new module there; this brings the old one back.
        monkeypatch.setattr(home, "lightning", home.lightning)
    door = importlib.import_module("runtime_guard.lightning")
    assert issubclass(door.DeviceGuard, importlib.import_module("pytorch_lightning").Callback)

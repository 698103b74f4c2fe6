from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.base import clone
from skorch import NeuralNetClassifier
from skorch.callbacks import Callback
from torch import nn

from runtime_guard import DeviceMismatchError
from runtime_guard.skorch import DeviceGuard

X = np.random.default_rng(0).normal(size=(12, 4)).astype("float32")
Y: Any = np.arange(12) % 2


class Module(nn.Module):
    def __init__(self, wrong: bool = False) -> None:
        super().__init__()
        self.hidden = nn.Linear(4, 8)
        self.output = nn.Linear(8, 2)
        self.wrong = wrong
        self.hooks: list[int] = []

    def forward(self, rows):
        self.hooks.append(hooks_of(self))
        if self.wrong:
            rows = rows.to("meta")
        return self.output(self.hidden(rows).relu())


def hooks_of(model: nn.Module) -> int:
    return sum(len(module._forward_pre_hooks) for module in model.modules())


def net(*callbacks: Any, **options: Any) -> Any:
    torch.manual_seed(0)
    return NeuralNetClassifier(
        Module,
        criterion=nn.CrossEntropyLoss,
        max_epochs=2,
        batch_size=4,
        train_split=None,
        verbose=0,
        callbacks=list(callbacks),
        **options,
    )


def test_a_right_fit_learns_the_same_without_a_word():
    bare = net().fit(X, Y)
    guarded = net(("guard", DeviceGuard())).fit(X, Y)
    assert guarded.history[:, "train_loss"] == bare.history[:, "train_loss"]
    assert dict(guarded.callbacks_)["guard"].mismatches == ()
    assert len(guarded.module_.hooks) == 6
    assert 0 not in guarded.module_.hooks
    assert hooks_of(guarded.module_) == hooks_of(guarded.criterion_) == 0


def test_a_wrong_fit_is_told_with_module_argument_and_lines():
    wrong = net(("guard", DeviceGuard(meta=True)), module__wrong=True)
    with pytest.raises(DeviceMismatchError) as caught:
        wrong.fit(X, Y)
    (found,) = caught.value.mismatches
    assert (found.module, found.module_class) == ("hidden", "Linear")
    assert (found.argument, found.tensor.device, found.expected) == ("input", "meta", "cpu")
    assert found.failed_at is not None
    assert found.failed_at.text == "return self.output(self.hidden(rows).relu())"
    assert found.launched_at is not None
    assert found.launched_at.text == "wrong.fit(X, Y)"
    watch = dict(wrong.callbacks_)["guard"]
    assert watch.mismatches == (found,)
    watch.remove()
    assert hooks_of(wrong.module_) == 0


def test_initializing_anew_takes_away_what_a_failed_fit_left():
    wrong = net(("guard", DeviceGuard(meta=True)), module__wrong=True)
    with pytest.raises(DeviceMismatchError):
        wrong.fit(X, Y)
    left = wrong.module_
    assert hooks_of(left) > 0
    wrong.set_params(module__wrong=False)
    wrong.fit(X, Y)
    assert hooks_of(left) == hooks_of(wrong.module_) == 0


class Misplaces(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.entropy = nn.CrossEntropyLoss()

    def forward(self, prediction, target):
        return self.entropy(prediction, target.to("meta"))


def test_the_criterion_is_guarded_too():
    wrong = net(("guard", DeviceGuard(meta=True)))
    wrong.set_params(criterion=Misplaces)
    with pytest.raises(DeviceMismatchError) as caught:
        wrong.fit(X, Y)
    (found,) = caught.value.mismatches
    assert (found.module, found.module_class) == ("entropy", "CrossEntropyLoss")
    assert (found.argument, found.anchor) == ("input", "argument 'target'")
    assert hooks_of(wrong.criterion_) > 0
    dict(wrong.callbacks_)["guard"].remove()
    assert hooks_of(wrong.criterion_) == 0


def test_options_are_parameters_as_sklearn_has_them():
    first = net(("guard", DeviceGuard(meta=True)), module__wrong=True)
    second = clone(first)
    second.set_params(callbacks__guard__meta=False, callbacks__guard__steps=1, module__wrong=False)
    assert second.get_params()["callbacks__guard__steps"] == 1
    second.fit(X, Y)
    assert second.module_.hooks[0] > 0
    assert set(second.module_.hooks[1:]) == {0}
    with pytest.raises(ValueError, match="steps is 0"):
        net(("guard", DeviceGuard(steps=0))).fit(X, Y)


def test_a_fitted_net_pickles_and_fits_again():
    fitted = net(("guard", DeviceGuard())).fit(X, Y)
    again = pickle.loads(pickle.dumps(fitted))
    again.partial_fit(X, Y)
    assert 0 not in again.module_.hooks
    assert hooks_of(again.module_) == 0


def test_a_net_pickles_while_it_is_fitted():
    class Pickling(Callback):
        def on_batch_begin(self, net, **_):
            copies.append(pickle.loads(pickle.dumps(dict(net.callbacks_)["guard"])))

    copies: list[Any] = []
    net(("guard", DeviceGuard()), Pickling()).fit(X, Y)
    assert len(copies) == 6
    assert copies[0].mismatches == ()

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch
from torch import nn

from runtime_guard import DeviceMismatchError, virtual_gpu
from runtime_guard.messages.explain import annotate, notes_of

with warnings.catch_warnings():
    # ignite still scripts functions when it is imported.
    warnings.filterwarnings("ignore", "`torch.jit", DeprecationWarning)
    from ignite.engine import Engine, Events, create_supervised_evaluator
    from ignite.metrics import Metric

    from runtime_guard.ignite import DeviceGuard


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(4, 8)
        self.output = nn.Linear(8, 2)
        self.hooks: list[int] = []

    def forward(self, rows):
        self.hooks.append(hooks_of(self))
        return self.output(self.hidden(rows).relu())


def hooks_of(model: nn.Module) -> int:
    return sum(len(module._forward_pre_hooks) for module in model.modules())


def net() -> Net:
    torch.manual_seed(0)
    return Net()


def batches() -> list[Any]:
    generator = torch.Generator().manual_seed(0)
    return [
        (torch.randn(3, 4, generator=generator), torch.randint(2, (3,), generator=generator))
        for _ in range(3)
    ]


def trainer(model: nn.Module, losses: list[float] | None = None, device: str = "cpu") -> Engine:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(engine, batch):
        rows, targets = batch
        loss = nn.functional.cross_entropy(model(rows.to(device)), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if losses is not None:
            losses.append(loss.item())

    return Engine(step)


def test_a_right_run_learns_the_same_without_a_word():
    bare: list[float] = []
    trainer(net(), bare).run(batches(), max_epochs=2)
    model, guarded = net(), list[float]()
    engine = trainer(model, guarded)
    watch = DeviceGuard(model).attach(engine)
    engine.run(batches(), max_epochs=2)
    assert guarded == bare
    assert len(guarded) == 6
    assert watch.mismatches == ()
    assert 0 not in model.hooks
    assert hooks_of(model) == 0


def test_a_wrong_run_is_told_with_module_argument_and_lines():
    model = net()
    engine = trainer(model, device="meta")
    watch = DeviceGuard(model, meta=True).attach(engine)
    with pytest.raises(DeviceMismatchError) as caught:
        engine.run(batches())
    (found,) = caught.value.mismatches
    assert (found.module, found.module_class) == ("hidden", "Linear")
    assert (found.argument, found.tensor.device, found.expected) == ("input", "meta", "cpu")
    assert found.failed_at is not None
    assert found.failed_at.text == "return self.output(self.hidden(rows).relu())"
    assert found.entered_at is not None
    assert "model(rows.to(device))" in found.entered_at.text
    assert watch.mismatches == (found,)
    assert hooks_of(model) == 0


def test_an_error_of_torch_is_explained_and_goes_on():
    def step(engine, rows):
        return rows.numpy()

    engine = Engine(step)
    DeviceGuard(net()).attach(engine)
    with pytest.raises(TypeError, match=r"to numpy[^$]*rows[^$]*return rows\.numpy\(\)"):
        engine.run([torch.ones(2, device="meta")])


def test_an_error_that_somebody_handles_stays_handled():
    handled: list[BaseException] = []
    for first in (True, False):
        model = net()
        engine = trainer(model, device="meta")
        watch = DeviceGuard(model, meta=True)
        if first:
            watch.attach(engine)
        engine.add_event_handler(Events.EXCEPTION_RAISED, lambda _, error: handled.append(error))
        if not first:
            watch.attach(engine)
        engine.run(batches())
        assert isinstance(handled.pop(), DeviceMismatchError)
        assert hooks_of(model) == 0


def test_an_evaluator_inside_of_the_run_shares_the_guard():
    model = net()
    engine = trainer(model)
    evaluator = create_supervised_evaluator(model)
    DeviceGuard(model).attach(engine).attach(evaluator)
    engine.add_event_handler(Events.EPOCH_COMPLETED, lambda: evaluator.run(batches()))
    engine.run(batches(), max_epochs=2)
    assert len(model.hooks) == 12
    assert len(set(model.hooks)) == 1
    assert 0 not in model.hooks
    assert hooks_of(model) == 0
    evaluator.run(batches())
    assert model.hooks[-1] > 0
    assert hooks_of(model) == 0


@pytest.mark.parametrize("skip_completed", [False, True])
def test_a_terminated_run_leaves_nothing(skip_completed):
    model = net()
    engine = trainer(model)
    DeviceGuard(model).attach(engine)
    engine.add_event_handler(
        Events.ITERATION_COMPLETED(once=2), lambda: engine.terminate(skip_completed=skip_completed)
    )
    engine.run(batches())
    assert len(model.hooks) == 2
    assert hooks_of(model) == 0


def test_an_interrupted_run_goes_on_guarded():
    model = net()
    engine = trainer(model)
    watch = DeviceGuard(model).attach(engine)
    engine.add_event_handler(Events.ITERATION_COMPLETED(once=1), engine.interrupt)
    engine.run(batches())
    assert hooks_of(model) > 0
    engine.run(batches())
    assert len(model.hooks) == 3
    assert 0 not in model.hooks
    assert hooks_of(model) == 0
    engine.run(batches(), max_epochs=2)
    watch.remove()
    assert hooks_of(model) == 0


def test_options_reach_the_guard():
    model = net()
    engine = trainer(model)
    evaluator = create_supervised_evaluator(model)
    engine.add_event_handler(Events.EPOCH_COMPLETED, lambda: evaluator.run(batches()))
    DeviceGuard(model, steps=1).attach(engine).attach(evaluator)
    engine.run(batches(), max_epochs=2)
    assert model.hooks[0] > 0
    assert model.hooks[1:] == [0] * 11
    with pytest.raises(ValueError, match="steps is 0"):
        DeviceGuard(model, steps=0)


class Guesses(Metric):
    """Creates its sums where nobody says."""

    def reset(self):
        self.counts = torch.zeros(2)

    def update(self, output):
        predicted, _ = output
        self.counts += predicted.sum(0)

    def compute(self):
        return self.counts.tolist()


def test_the_sums_of_a_metric_are_moved_and_not_the_metric():
    with virtual_gpu(1):
        model = net().to("cuda")
        metrics: dict[str, Metric] = {"guesses": Guesses()}
        evaluator = create_supervised_evaluator(model, metrics=metrics, device="cuda")
        with pytest.raises(RuntimeError, match="at least two devices") as caught:
            evaluator.run(batches())
        assert annotate(caught.value)
    note = " ".join(" ".join(notes_of(caught.value)).split())
    assert "to fix it: write `self.counts = self.counts.to(predicted.device)` before " in note

"""Guards what a transformers Trainer runs: `Trainer(callbacks=[DeviceGuardCallback()])`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtime_guard.integrations.run_guard import RunGuard, missing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch import nn
    from transformers import TrainerCallback

    from runtime_guard.mismatch import Mismatch
    from runtime_guard.settings import Action
else:
    try:
        from transformers import TrainerCallback
    except ImportError as error:
        raise missing("transformers", "transformers") from error


class DeviceGuardCallback(TrainerCallback):
    """Guards the model while a Trainer trains, with the evaluations in between.

        trainer = Trainer(model, arguments, ..., callbacks=[DeviceGuardCallback(steps=10)])

    Takes the options of `runtime_guard.guard`. A Trainer tells its callbacks neither that an
    evaluation or prediction outside of training begins (it is guarded from its second batch on),
    nor that training has failed: the model then stays guarded until the next training or
    `remove()`. What ends the program is explained all the same. Where this is not enough:

        with runtime_guard.guard(trainer.model):
            trainer.train()
    """

    def __init__(
        self,
        *,
        action: Action = "raise",
        steps: int | None = None,
        every: int = 1,
        only: str | Iterable[str] = (),
        skip: str | Iterable[str] = (),
        meta: bool = False,
    ) -> None:
        self._run = RunGuard(
            action=action, steps=steps, every=every, only=only, skip=skip, meta=meta
        )
        self._trains = False

    @property
    def mismatches(self) -> tuple[Mismatch, ...]:
        """What was found in the run, or in the last one, each place once."""
        return self._run.mismatches

    def remove(self) -> None:
        """Leave nothing attached, after a training that failed."""
        self._trains = False
        self._run.finish()

    def on_train_begin(self, *_: Any, model: nn.Module, **__: Any) -> None:
        """Guard the model."""
        self._trains = True
        self._run.start(model)

    def on_train_end(self, *_: Any, **__: Any) -> None:
        """Leave nothing attached."""
        self.remove()

    def on_prediction_step(self, *_: Any, model: nn.Module, **__: Any) -> None:
        """Guard the model from here on, where nobody said that an evaluation began."""
        if not self._run.running:
            self._run.start(model)

    def on_evaluate(self, *_: Any, **__: Any) -> None:
        """Leave nothing attached, unless the evaluation is part of training."""
        if not self._trains:
            self._run.finish()

    def on_predict(self, *_: Any, **__: Any) -> None:
        """The same, after a prediction."""
        self.on_evaluate()

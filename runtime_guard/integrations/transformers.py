"""Guards what a transformers Trainer runs: `Trainer(callbacks=[DeviceGuardCallback()])`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtime_guard.integrations.callback import GuardCallback, missing

if TYPE_CHECKING:
    from torch import nn
    from transformers import TrainerCallback

else:
    try:
        from transformers import TrainerCallback
    except ImportError as error:
        raise missing("transformers", "transformers") from error


class DeviceGuardCallback(GuardCallback, TrainerCallback):
    """Guards the model while a Trainer trains, with the evaluations in between.

        trainer = Trainer(model, arguments, ..., callbacks=[DeviceGuardCallback(steps=10)])

    Takes the options of `runtime_guard.guard`. A Trainer informs its callbacks neither that an
    evaluation or prediction outside of training begins (it is guarded from its second batch on),
    nor that training has failed: the model then stays guarded until the next training or
    `remove()`. What ends the program is explained all the same. Where this is not enough:

        with runtime_guard.guard(trainer.model):
            trainer.train()
    """

    _trains = False

    def remove(self) -> None:
        """Leave nothing attached, after a training that failed."""
        self._trains = False
        super().remove()

    def on_train_begin(self, *_: Any, model: nn.Module, **__: Any) -> None:
        """Guard the model."""
        self._trains = True
        self.run_.start(model)

    def on_train_end(self, *_: Any, **__: Any) -> None:
        """Leave nothing attached."""
        self.remove()

    def on_prediction_step(self, *_: Any, model: nn.Module, **__: Any) -> None:
        """Guard the model from here on, where nobody said that an evaluation began."""
        if not self.run_.running:
            self.run_.start(model)

    def on_evaluate(self, *_: Any, **__: Any) -> None:
        """Leave nothing attached, unless the evaluation is part of training."""
        if not self._trains:
            self.remove()

    def on_predict(self, *_: Any, **__: Any) -> None:
        """The same, after a prediction."""
        self.on_evaluate()

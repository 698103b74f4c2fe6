"""Guards what Lightning runs: a `Callback` for `Trainer(callbacks=[DeviceGuard()])`.

With Fabric there is no loop to call back: `runtime_guard.guard(model)` does it all.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from runtime_guard.integrations.callback import GuardCallback, missing

if TYPE_CHECKING:
    from lightning.pytorch import Callback

else:
    try:
        # The same library under two names: the one in use is meant.
        if "pytorch_lightning" in sys.modules and "lightning.pytorch" not in sys.modules:
            from pytorch_lightning import Callback
        else:
            from lightning.pytorch import Callback
    except ImportError:
        try:
            from pytorch_lightning import Callback
        except ImportError as error:
            raise missing("lightning", "lightning") from error


class DeviceGuard(GuardCallback, Callback):
    """Guards the LightningModule while a Trainer fits, validates, tests or predicts.

        trainer = Trainer(callbacks=[DeviceGuard(steps=10)])

    Takes the options of `runtime_guard.guard`. The guard begins when Lightning has moved the
    model to its device, before the sanity check, and is gone when the run is over; a device error
    that ends the run is explained. It has no state of its own in checkpoints.
    """

    def on_fit_start(self, trainer: Any, pl_module: Any) -> None:  # noqa: ARG002 - Lightning's
        """Guard the module."""
        self.run_.start(pl_module)

    def on_validation_start(self, trainer: Any, pl_module: Any) -> None:  # noqa: ARG002 - Lightning's
        """Guard the module, unless this validation is part of fitting."""
        if not self.run_.running:
            self.run_.start(pl_module)

    # Lightning's hooks have one signature each time; only fitting contains another stage.
    on_test_start = on_predict_start = on_fit_start

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:  # noqa: ARG002 - Lightning's
        """Explain what ends the run, if it is about devices."""
        self.run_.fail(exception)

    def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:  # noqa: ARG002 - Lightning's
        """Leave nothing attached: every run ends here, or with an exception."""
        self.remove()

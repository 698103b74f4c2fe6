"""Guards what a skorch net trains: `NeuralNet(..., callbacks=[DeviceGuard()])`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtime_guard.integrations.callback import GuardCallback, missing
from runtime_guard.integrations.run_guard import RunGuard

if TYPE_CHECKING:
    from collections.abc import Iterable

    from skorch.callbacks import Callback
    from typing_extensions import Self

    from runtime_guard.settings import Action
else:
    try:
        from skorch.callbacks import Callback
    except ImportError as error:
        raise missing("skorch", "skorch") from error


class DeviceGuard(GuardCallback, Callback):
    """Guards the net's module and its criterion while the net is fitted.

        net = NeuralNetClassifier(Module, callbacks=[("guard", DeviceGuard(steps=10))])

    Takes the options of `runtime_guard.guard`, which are parameters as sklearn has them:
    `net.set_params(callbacks__guard__action="warn")`. skorch does not inform its callbacks that
    fitting has failed: the module then stays guarded until it is initialized anew, or until
    `remove()`. Where this is not enough, and for predictions:

        with runtime_guard.guard(net.module_):
            net.partial_fit(X, y)
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
        # sklearn reads the parameters' names here, and makes copies from these attributes.
        super().__init__()
        self.action = action
        self.steps = steps
        self.every = every
        self.only = only
        self.skip = skip
        self.meta = meta

    def initialize(self) -> Self:
        """Begin anew, with the parameters of now."""
        self.remove()
        self.run_ = RunGuard(**self.get_params())
        return self

    def on_train_begin(self, net: Any, *_: Any, **__: Any) -> None:
        """Guard the module and the criterion."""
        from torch import nn

        parts = (net.module_, net.criterion_)
        self.run_.start(*(part for part in parts if isinstance(part, nn.Module)))

    def on_train_end(self, *_: Any, **__: Any) -> None:
        """Leave nothing attached."""
        self.remove()

"""Guards what an ignite engine runs: `DeviceGuard(model).attach(engine)`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtime_guard.integrations.callback import GuardCallback, missing
from runtime_guard.messages.explain import annotate

if TYPE_CHECKING:
    from ignite.engine import Engine, Events
    from torch import nn
    from typing_extensions import Self

else:
    try:
        from ignite.engine import Events
    except ImportError as error:
        raise missing("ignite", "pytorch-ignite") from error


class DeviceGuard(GuardCallback):
    """Guards a model while an engine runs.

        DeviceGuard(model, steps=10).attach(trainer)

    Takes the options of `runtime_guard.guard`. It may be attached to several engines: the guard
    begins with the first that starts and is gone when the last is over, so that an evaluator may
    run inside a trainer. A device error that ends a run is explained, and goes on as it would have
    gone. An interrupted run is not over.
    """

    def __init__(self, model: nn.Module, **options: Any) -> None:
        super().__init__(**options)
        self._model = model
        self._engines: list[Engine] = []

    def attach(self, engine: Engine) -> Self:
        """Guard the model while this engine runs."""
        engine.add_event_handler(Events.STARTED, self._start)
        engine.add_event_handler(Events.TERMINATE, self._finish)
        engine.add_event_handler(Events.COMPLETED, self._finish)
        engine.add_event_handler(Events.EXCEPTION_RAISED, self._fail)
        return self

    def remove(self) -> None:
        """Leave the model alone, after an interrupted run that will not go on."""
        self._engines.clear()
        super().remove()

    def _start(self, engine: Engine) -> None:
        if not self.run_.running:
            self.run_.start(self._model)
        if engine not in self._engines:
            self._engines.append(engine)

    def _finish(self, engine: Engine) -> None:
        if engine in self._engines:
            self._engines.remove(engine)
        if not self._engines:
            self.remove()

    def _fail(self, engine: Engine, error: BaseException) -> None:
        annotate(error)
        self._finish(engine)
        if _is_the_only_handler(engine):
            raise error


def _is_the_only_handler(engine: Engine) -> bool:
    """Whether nobody but us listens to errors: an engine takes for handled what it passes on."""
    handlers = getattr(engine, "_event_handlers", {}).get(Events.EXCEPTION_RAISED, ())
    return all(
        isinstance(getattr(handler, "__self__", None), DeviceGuard) for handler, *_ in handlers
    )

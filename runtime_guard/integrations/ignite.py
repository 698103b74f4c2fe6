"""Guards what an ignite engine runs: `DeviceGuard(model).attach(engine)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime_guard.integrations.run_guard import RunGuard, missing
from runtime_guard.messages.explain import annotate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ignite.engine import Engine, Events
    from torch import nn
    from typing_extensions import Self

    from runtime_guard.mismatch import Mismatch
    from runtime_guard.settings import Action
else:
    try:
        from ignite.engine import Events
    except ImportError as error:
        raise missing("ignite", "pytorch-ignite") from error


class DeviceGuard:
    """Guards a model while an engine runs.

        DeviceGuard(model, steps=10).attach(trainer)

    Takes the options of `runtime_guard.guard`. It may be attached to several engines: the guard
    begins with the first that starts and is gone when the last is over, so that an evaluator may
    run inside a trainer. A device error that ends a run is explained, and goes on as it would have
    gone. An interrupted run is not over.
    """

    def __init__(  # noqa: PLR0913 - each is an option that stands for itself
        self,
        model: nn.Module,
        *,
        action: Action = "raise",
        steps: int | None = None,
        every: int = 1,
        only: str | Iterable[str] = (),
        skip: str | Iterable[str] = (),
        meta: bool = False,
    ) -> None:
        self._model = model
        self._run = RunGuard(
            action=action, steps=steps, every=every, only=only, skip=skip, meta=meta
        )
        self._engines: list[Engine] = []

    @property
    def mismatches(self) -> tuple[Mismatch, ...]:
        """What was found in the run, or in the last one, each place once."""
        return self._run.mismatches

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
        self._run.finish()

    def _start(self, engine: Engine) -> None:
        if not self._run.running:
            self._run.start(self._model)
        if engine not in self._engines:
            self._engines.append(engine)

    def _finish(self, engine: Engine) -> None:
        if engine in self._engines:
            self._engines.remove(engine)
        if not self._engines:
            self._run.finish()

    def _fail(self, engine: Engine, error: BaseException) -> None:
        annotate(error)
        self._finish(engine)
        if _is_the_only_handler(engine):
            raise error


def _is_the_only_handler(engine: Engine) -> bool:
    """Whether nobody but us listens to errors: an engine takes those for handled that it tells."""
    handlers = getattr(engine, "_event_handlers", {}).get(Events.EXCEPTION_RAISED, ())
    return all(
        isinstance(getattr(handler, "__self__", None), DeviceGuard) for handler, *_ in handlers
    )

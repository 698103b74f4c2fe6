"""What is done with a call of torch: a handler for each function that is more than a kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

Handler: TypeAlias = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]
"""Called as `handler(func, args, kwargs)`, while no call of torch is seen by the mode."""

HANDLERS: dict[Any, Handler] = {}
"""By function as torch's override protocol names it: `Tensor.to`, `Tensor.device.__get__`."""


AROUND: list[Callable[[Handler, Any, tuple[Any, ...], dict[str, Any]], Any]] = []
"""Where there is one, the last is called with the handler and the call, instead of the handler."""


BEFORE: list[Callable[[Any, tuple[Any, ...], dict[str, Any]], None]] = []
"""What is called with each call, before that is handled."""


def handles(*functions: Any) -> Callable[[Handler], Handler]:
    """Let the decorated function handle the calls of these."""

    def register(handler: Handler) -> Handler:
        for function in functions:
            HANDLERS[function] = handler
        return handler

    return register

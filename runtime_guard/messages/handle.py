"""What every function of the package that changes something returns."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from typing_extensions import Self

P = ParamSpec("P")
R = TypeVar("R")


class Handle:
    """Function, context manager and decorator in one.

    Making it changes nothing: `attach` does, and the public functions call it before they hand
    the handle out. `remove` takes everything back. As a context manager it removes at the end of
    the block; as a decorator it is attached while the function runs, and at no other time. An
    exception about devices that leaves the block or the function is explained.

    Both methods may be called again without harm.
    """

    def attach(self) -> Self:
        """Bring into effect what this handle stands for."""
        raise NotImplementedError

    def remove(self) -> None:
        """Take it back; nothing stays changed."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self.attach()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is not None:
            from runtime_guard.messages.explain import annotate

            annotate(error)
        self.remove()

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Decorate `function`: the handle is in effect while it runs."""
        self.remove()

        @functools.wraps(function)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
            with self:
                return function(*args, **kwargs)

        return guarded

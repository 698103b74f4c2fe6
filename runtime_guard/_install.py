"""Guards every module of the process, whoever makes it."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from torch import nn

from runtime_guard._check import fits
from runtime_guard._checking import Checking
from runtime_guard._settings import settings_from

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from torch.optim import Optimizer

    from runtime_guard._settings import Action


class Installation(Checking):
    """The handle that `install` returns.

    `torch.nn.Module.__call__` is wrapped, which costs less than a hook and leaves no trace in
    the modules. Where somebody else wraps it after us, removing leaves our wrapper in place, and
    it only passes calls on.
    """

    _original: Callable[..., Any]
    _wrapper: Callable[..., Any]

    def __repr__(self) -> str:
        state = "checks every module" if self.checking else "checks nothing now"
        return f"<guard of the process: {state}, {self.settings}>"

    def _begin(self) -> None:
        self._original = nn.Module.__call__
        self._wrapper = _checked(self._original, self)
        nn.Module.__call__ = self._wrapper

    def _end(self) -> None:
        if nn.Module.__call__ is self._wrapper:
            nn.Module.__call__ = self._original

    def concerns(self, _optimizer: Optimizer) -> bool:
        return True


def _checked(original: Callable[..., Any], installation: Installation) -> Callable[..., Any]:
    enforcement = installation.enforcement

    @functools.wraps(original)
    def call(self: nn.Module, *args: Any, **kwargs: Any) -> Any:
        if not fits(self, args, kwargs) and installation.checking:
            args, kwargs = enforcement.examine(self, args, kwargs) or (args, kwargs)
        return original(self, *args, **kwargs)

    return call


def install(
    *,
    action: Action = "raise",
    steps: int | None = None,
    every: int = 1,
    only: str | Iterable[str] = (),
    skip: str | Iterable[str] = (),
    meta: bool = False,
) -> Installation:
    """Guard every module of the process, those that are made later too.

    Takes what `guard` takes, and does the same; the paths that `only` and `skip` match begin at
    the outermost module that is running. Modules that are called inside a compiled region are
    checked by the region's own guards alone.

    Raises:
        ValueError: an option has a value that it cannot have.
    """
    settings = settings_from(
        action=action, steps=steps, every=every, only=only, skip=skip, meta=meta
    )
    installation = Installation(settings)
    installation.attach()
    return installation

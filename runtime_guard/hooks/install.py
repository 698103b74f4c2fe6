"""Guards every module of the process, whoever makes it."""

from __future__ import annotations

import functools
import threading
from typing import TYPE_CHECKING, Any, ClassVar

from torch import nn

from runtime_guard.check.verdict import fits
from runtime_guard.hooks.checking import Checking
from runtime_guard.settings import settings_from

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from torch.optim import Optimizer

    from runtime_guard.settings import Action


class Installation(Checking):
    """The handle that `install` returns.

    `torch.nn.Module.__call__` is wrapped, which costs less than a hook and leaves no trace in
    the modules. Where somebody else wraps it after us, removing leaves our wrapper in place, and
    it only passes calls on.
    """

    def __repr__(self) -> str:
        state = "checks every module" if self.checking else "checks nothing now"
        return f"<guard of the process: {state}, {self.settings}>"

    def _begin(self) -> None:
        _Calls.add(self)

    def _end(self) -> None:
        _Calls.drop(self)

    def concerns(self, _optimizer: Optimizer) -> bool:
        """Every optimizer of the process does."""
        return True


class _Calls:
    """The one wrapper around `torch.nn.Module.__call__`, which all installed guards share."""

    lock: ClassVar[threading.Lock] = threading.Lock()
    active: ClassVar[tuple[Installation, ...]] = ()
    original: ClassVar[Callable[..., Any]]
    wrapper: ClassVar[Callable[..., Any] | None] = None

    @classmethod
    def add(cls, installation: Installation) -> None:
        with cls.lock:
            cls.active = (*cls.active, installation)
            if not cls._is_in_place():
                cls.original = nn.Module.__call__
                cls.wrapper = nn.Module.__call__ = _checked(cls.original)

    @classmethod
    def drop(cls, installation: Installation) -> None:
        with cls.lock:
            cls.active = tuple(each for each in cls.active if each is not installation)
            if not cls.active and nn.Module.__call__ is cls.wrapper:
                nn.Module.__call__ = cls.original

    @classmethod
    def _is_in_place(cls) -> bool:
        """Whether calls come through our wrapper, be it through another around it."""
        call: Any = nn.Module.__call__
        while call is not None and call is not cls.wrapper:
            call = getattr(call, "__wrapped__", None)
        return call is not None


def _checked(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def call(self: nn.Module, *args: Any, **kwargs: Any) -> Any:
        if not fits(self, args, kwargs):
            for installation in _Calls.active:
                moved = installation.enforcement.examine(self, args, kwargs)
                args, kwargs = moved or (args, kwargs)
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

    Takes what `guard` takes but the optimizer, and does the same; the paths that `only` and
    `skip` match begin at the outermost module that is running.

    Raises:
        ValueError: an option has a value that it cannot have.
    """
    settings = settings_from(
        action=action, steps=steps, every=every, only=only, skip=skip, meta=meta
    )
    installation = Installation(settings)
    installation.attach()
    return installation

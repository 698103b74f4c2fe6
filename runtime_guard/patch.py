"""Takes the place of a function, and gives it back whatever came in between."""

from __future__ import annotations

import threading
from types import MethodType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_lock = threading.RLock()


class Link:
    """Stands in the place of a function, and calls it as `around(function, *args, **kwargs)`.

    Others may take the place after us. Then removing the link leaves it where it is, and it only
    passes calls on; a link beneath that is given back later is passed over.
    """

    def __init__(self, holder: Any, name: str, around: Callable[..., Any]) -> None:
        self._holder = holder
        self._name = name
        self._around = around
        self._active = True
        with _lock:
            # An instance has its class's function: what is put there is taken away at the end.
            self._is_own = name in vars(holder)
            self.previous: Any = getattr(holder, name)
            setattr(holder, name, self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call what was there, around it what is put in its place."""
        if self._active:
            return self._around(self.previous, *args, **kwargs)
        return self.previous(*args, **kwargs)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def remove(self) -> None:
        """Give the place back if it is still ours, and do nothing from now on."""
        with _lock:
            self._active = False
            if vars(self._holder).get(self._name) is not self:
                return
            below, is_own = self.previous, self._is_own
            while isinstance(below, Link) and not below._active:
                below, is_own = below.previous, below._is_own
            if is_own:
                setattr(self._holder, self._name, below)
            else:
                delattr(self._holder, self._name)

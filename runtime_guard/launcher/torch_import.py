"""Begins something at the moment when the program has imported torch, and not earlier."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType


def once_torch_is_there(callback: Callable[[], None]) -> TorchFinder:
    """Call back now, or when the program has imported torch; what is returned can be removed."""
    finder = TorchFinder(callback)
    if "torch" in sys.modules:
        callback()
    else:
        sys.meta_path.insert(0, finder)
    return finder


class TorchFinder:
    """Calls back once, when torch has been imported.

    It only lends the loader of torch another `exec_module`, for one call.
    """

    def __init__(self, callback: Callable[[], None]) -> None:
        self._callback = callback

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find torch as the finders after this one do; nothing else."""
        if name != "torch":
            return None
        finders = tuple(sys.meta_path)
        for finder in finders[finders.index(self) + 1 :]:
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                _call_after_loading(spec, self._callback)
                return spec
        return None

    def remove(self) -> None:
        """Take this finder away, if it is still there."""
        with suppress(ValueError):
            sys.meta_path.remove(self)


def _call_after_loading(spec: ModuleSpec, callback: Callable[[], None]) -> None:
    loader: Any = spec.loader
    if not hasattr(loader, "__dict__") or isinstance(loader, type):
        return
    load = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        vars(loader).pop("exec_module", None)
        load(module)
        callback()

    # Python leaves the frames of this file out of the traceback of an import that fails.
    machinery = "<frozen importlib._bootstrap_external>"
    exec_module.__code__ = exec_module.__code__.replace(co_filename=machinery)
    loader.exec_module = exec_module

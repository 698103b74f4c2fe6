"""Tells modules of this folder when others have been imported."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


def wait_for(modules: Mapping[str, Sequence[str]]) -> None:
    """Have the `after_import` of these modules called, by the module that they wait for."""
    # torchvision's wheel is built for CUDA: this module of it registers operators that a build of
    # torch for the CPU lacks. Nothing that is run needs them.
    sys.modules["torchvision._meta_registrations"] = ModuleType("torchvision._meta_registrations")
    sys.meta_path.insert(0, Waiting(modules))


class Waiting:
    """Finds what all others find, and tells when it has been loaded."""

    def __init__(self, modules: Mapping[str, Sequence[str]]) -> None:
        self.modules = modules
        self.sought: set[str] = set()

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find the modules that somebody waits for."""
        if name not in self.modules or name in self.sought:
            return None
        self.sought.add(name)
        try:
            # Others that wait for torch ask all finders in turn, this one too.
            for finder in tuple(sys.meta_path):
                spec = None if finder is self else finder.find_spec(name, path, target)
                if spec is not None:
                    self._tell_after_loading(spec)
                    return spec
        finally:
            self.sought.discard(name)
        return None

    def _tell_after_loading(self, spec: ModuleSpec) -> None:
        loader: Any = spec.loader
        load: Callable[[ModuleType], None] = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            load(module)
            for name in self.modules[spec.name]:
                import_module(name).after_import(module)

        loader.exec_module = exec_module

"""Imported by every Python process of a run: seeds, small data, and a record of what is learned.

It waits for what the script imports, and changes no file of the script's.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

# torchvision's wheel is built for CUDA: this module of it registers operators that a build of
# torch for the CPU lacks. Nothing that the examples use needs them.
sys.modules["torchvision._meta_registrations"] = ModuleType("torchvision._meta_registrations")

AFTER = {
    "torch": ("examples_play", "examples_record"),
    "numpy": ("examples_seeds",),
    "torchvision.datasets.fakedata": ("examples_small",),
    "torchvision.models.vgg": ("examples_small",),
}
"""Which modules of this folder are told, by their `after_import`, that a module was imported."""


class Waiting:
    """Finds what all others find, and tells when it has been loaded."""

    def __init__(self) -> None:
        self.sought: set[str] = set()

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find the modules that somebody waits for."""
        if name not in AFTER or name in self.sought:
            return None
        self.sought.add(name)
        try:
            # Others that wait for torch ask all finders in turn, this one too.
            for finder in tuple(sys.meta_path):
                spec = None if finder is self else finder.find_spec(name, path, target)
                if spec is not None:
                    _tell_after_loading(spec)
                    return spec
        finally:
            self.sought.discard(name)
        return None


def _tell_after_loading(spec: ModuleSpec) -> None:
    loader: Any = spec.loader
    load: Callable[[ModuleType], None] = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        load(module)
        for name in AFTER[spec.name]:
            import_module(name).after_import(module)

    loader.exec_module = exec_module


sys.meta_path.insert(0, Waiting())
random.seed(int(os.environ["EXAMPLES_SEED"]))

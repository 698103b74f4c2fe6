"""The same random numbers in every run, also for scripts that set no seed."""

from __future__ import annotations

import os
from types import ModuleType


def after_import(numpy: ModuleType) -> None:
    """Seed numpy's global generator."""
    numpy.random.seed(int(os.environ["EXAMPLES_SEED"]))

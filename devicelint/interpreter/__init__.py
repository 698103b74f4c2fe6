"""Walks through a libcst tree, asks knowledge, and announces events.

What teaches the walk something is found by being there: every module of the packages below is
imported, and registers its handlers in the tables of the engine.
"""

import importlib
import pkgutil
from types import ModuleType

from devicelint.interpreter import analyses, guesses, libraries, python, suggestions, torch
from devicelint.interpreter.engine.program import Program
from devicelint.interpreter.worlds import Walk, explore

__all__ = ["Program", "Walk", "explore"]


def _load(package: ModuleType) -> None:
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)


for _package in (python, torch, libraries, guesses, analyses, suggestions):
    _load(_package)

"""Lets child processes know, by variables of the environment, what is in effect in this one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

BOOT = str(Path(__file__).parent / "launcher" / "boot")
"""On the path of child processes: a folder whose `sitecustomize` activates us there."""

PROOF = "_RUNTIME_GUARD_PROOF"
"""Names the folder of the proof that a process, with its children, is part of."""


class ChildEnvironment:
    """Variables that child processes find, until `undo` gives them back as they were.

    Args:
        variables: by name; what is None is not to be found. The path of Python comes by itself.
    """

    def __init__(self, variables: Mapping[str, str | None]) -> None:
        path = _with_boot(os.environ.get("PYTHONPATH", ""))
        self._former: dict[str, str | None] = {}
        for name, value in {**variables, "PYTHONPATH": path}.items():
            self._former[name] = os.environ.get(name)
            _set(name, value)

    def undo(self) -> None:
        """Give them back."""
        for name, value in self._former.items():
            _set(name, value)
        self._former.clear()


def _with_boot(path: str) -> str:
    others = [entry for entry in path.split(os.pathsep) if entry != BOOT] if path else []
    return os.pathsep.join([BOOT, *others])


def _set(name: str, value: str | None) -> None:
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value

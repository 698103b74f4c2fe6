"""The modules in a folder and below it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from devicelint.workspace.roots import listed

_MOST_NAMES = 30_000
_OTHERS = ("__pycache__", "site-packages", "node_modules")
"""Folders of what others wrote, and of what Python makes of modules."""


def modules_below(folder: str) -> list[str] | None:
    """The modules below a folder; None where there are too many files of any kind."""
    found: list[str] = []
    names_left = _MOST_NAMES
    for path, folders, names in os.walk(folder):
        names_left -= len(names) + len(folders)
        if names_left < 0:
            return None
        folders[:] = sorted(
            one for one in folders if not one.startswith(".") and one not in _OTHERS
        )
        found += _modules(path, names)
    return found


def modules_in(folder: str) -> list[str]:
    """The modules that lie in a folder itself."""
    return list(_modules(folder, listed(folder)))


def _modules(folder: str, names: Iterable[str]) -> Iterator[str]:
    return (os.path.join(folder, one) for one in sorted(names) if one.endswith(".py"))

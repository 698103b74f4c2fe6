"""The folders around a file, up to the root of the project that it belongs to."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator

_MARKS = frozenset({".git", ".hg", "pyproject.toml", "setup.cfg"})
"""What lies at the root of a project; what is marked below another one is a project by itself."""
_INSTALLS = "setup.py"
"""So does this, unless it is a module of a package."""
_PACKAGE = "__init__.py"
_MOST = 6

Listing = Callable[[str], Collection[str]]
"""The names in a folder; none where it cannot be read."""


def folders_around(home: str, listing: Listing) -> Iterator[str]:
    """The folder of a file and those above it, up to the root; the first few where none is marked.

    A file at the root of the disk is in one folder.
    """
    folder = os.path.dirname(os.path.abspath(home))
    for _ in range(_MOST):
        yield folder
        above = os.path.dirname(folder)
        if above == folder or is_root(listing(folder)):
            return
        folder = above


def is_root(names: Collection[str]) -> bool:
    """Whether a folder that holds these names is the root of a project."""
    is_marked = not _MARKS.isdisjoint(names)
    return is_marked or (_INSTALLS in names and _PACKAGE not in names)


def listed(folder: str) -> frozenset[str]:
    """The names in a folder of the disk; none where it cannot be read."""
    try:
        return frozenset(os.listdir(folder))
    except OSError:
        return frozenset()

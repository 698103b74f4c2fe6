"""What files are called towards other programs."""

from __future__ import annotations

import os
from pathlib import Path


def named_from(root: str, path: str) -> str:
    """Return the path of a file from a folder, with `/`; as it is where it lies elsewhere.

    What standard input says keeps the name that it was given.
    """
    if path == "-":
        return path
    here = os.path.abspath(path)
    start = os.path.abspath(root)
    try:
        inside = os.path.commonpath((here, start)) == start
    except ValueError:  # On another drive, there is no way from here to there.
        inside = False
    return Path(os.path.relpath(here, start) if inside else here).as_posix()

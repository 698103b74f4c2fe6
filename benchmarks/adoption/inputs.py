"""The data that scripts read from files, made small: the same in each run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

Maker = Callable[[Path], None]
"""Makes data in the folder of a script."""

MAKERS: dict[str, Maker] = {}

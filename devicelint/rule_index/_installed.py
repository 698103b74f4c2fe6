"""Whether any rules are installed beside those of devicelint: a look that imports nothing."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import cache

GROUP = "devicelint.rules"
"""The entry points by which a distribution names rules of its own."""

_RECORDS = (".dist-info", ".egg-info")


@cache
def any_installed() -> bool:
    """Whether the records of some distribution mention the entry points.

    `importlib.metadata` would know better, and takes as long as half of a short run to import.
    """
    return any(_mentions(record) for folder in sys.path for record in _records(folder))


def _records(folder: str) -> Iterator[str]:
    try:
        with os.scandir(folder or ".") as entries:
            yield from (each.path for each in entries if each.name.endswith(_RECORDS))
    except OSError:
        return


def _mentions(record: str) -> bool:
    try:
        # No Path: this is done for every distribution there is, by every run.
        with open(os.path.join(record, "entry_points.txt"), "rb") as file:  # noqa: PTH118, PTH123
            return GROUP.encode() in file.read()
    except OSError:
        return False

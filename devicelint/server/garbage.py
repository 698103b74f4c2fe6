"""When a server looks through memory for what nobody needs: between two checks."""

from __future__ import annotations

import gc

from devicelint.linter.garbage import COLLECTIONS_BETWEEN_OLDER, MANY_OBJECTS

MOST_OBJECTS = 1_000_000
"""How many may be made before a check is held up for it: some hundred megabytes."""


def collect_between_checks() -> None:
    """Leave all collections to `collect`: trees are large, and a check makes few cycles."""
    gc.disable()


def collect(most: int = MANY_OBJECTS) -> None:
    """Collect garbage where there may be much: by itself, once a check is done."""
    young, middle, old = gc.get_count()
    if young < most:
        return
    if middle < COLLECTIONS_BETWEEN_OLDER:
        gc.collect(0)
    else:
        gc.collect(1 if old < COLLECTIONS_BETWEEN_OLDER else 2)


def keep_what_is_imported() -> None:
    """Look no more at what is there for good: modules, and the classes of messages."""
    gc.freeze()

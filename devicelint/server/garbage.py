"""When a server looks through memory for what nobody needs: between two checks, never in one."""

from __future__ import annotations

import gc

_MANY_OBJECTS = 400_000
"""How many may be made, and kept so far, before those that nobody needs are looked for."""
_COLLECTIONS_BETWEEN_OLDER = 10


def collect_between_checks() -> None:
    """Leave all collections to `collect`: trees are large, and a check makes few cycles."""
    gc.disable()


def collect() -> None:
    """A check is done, and its result is on its way: collect garbage where there may be much."""
    young, middle, old = gc.get_count()
    if young < _MANY_OBJECTS:
        return
    if middle < _COLLECTIONS_BETWEEN_OLDER:
        gc.collect(0)
    else:
        gc.collect(1 if old < _COLLECTIONS_BETWEEN_OLDER else 2)


def keep_what_is_imported() -> None:
    """Look no more at what is there for good: modules, and the classes of messages."""
    gc.freeze()

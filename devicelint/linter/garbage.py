"""When memory is looked through for what nobody needs."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

MANY_OBJECTS = 200_000
"""How many may be made, and kept so far, before those that nobody needs are looked for.

That is some twenty megabytes: what walking one large file leaves behind, or fifty small ones.
"""
COLLECTIONS_BETWEEN_OLDER = 10
"""How often the young ones are looked through, before those that were kept are, too."""
_FILES_BETWEEN_FULL_COLLECTIONS = 1_000


class Collecting:
    """Collects garbage between files, once there may be much of it.

    Trees are large and free of cycles: the collector would only walk them, again and again.
    """

    def __init__(self) -> None:
        """Leave everything to `after_one`."""
        gc.unfreeze()
        gc.disable()
        self._files = 0

    def after_one(self) -> None:
        """A file is done."""
        self._files += 1
        if self._files % _FILES_BETWEEN_FULL_COLLECTIONS == 0:
            gc.collect()
            return
        young, collected, _ = gc.get_count()
        if young > MANY_OBJECTS:
            # The trees that are kept are older by then: they would be walked anew each time.
            gc.collect(1 if collected >= COLLECTIONS_BETWEEN_OLDER else 0)

    def end(self) -> None:
        """Go on as usual, without a look at what is there already."""
        gc.freeze()
        gc.enable()


def collect_between(files: Iterable[object], has_trees: Callable[[], bool]) -> None:
    """Do each file, and collect garbage between two of them, where there are trees."""
    collecting = Collecting()
    for _ in files:
        if has_trees():
            collecting.after_one()
    collecting.end()


class Pausing:
    """Pauses the collection of garbage in a program of somebody else, for one file at a time.

    What a file has left is set apart: the collections of that program do not walk it.
    """

    def __init__(self) -> None:
        """Leave everything as it is."""
        self._left = 0
        """How many objects were set apart without a look at them."""

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Check a file, and go on as before."""
        was_on = gc.isenabled()
        gc.disable()
        try:
            yield
        finally:
            self._set_apart()
            if was_on:
                gc.enable()

    def _set_apart(self) -> None:
        young, *_ = gc.get_count()
        if young > MANY_OBJECTS:
            gc.collect(0)
        else:
            self._left += young
        if self._left > MANY_OBJECTS * COLLECTIONS_BETWEEN_OLDER:
            gc.unfreeze()
            gc.collect()
            self._left = 0
        gc.freeze()

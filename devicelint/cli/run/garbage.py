"""When memory is looked through for what nobody needs."""

from __future__ import annotations

import gc

_FILES_BETWEEN_COLLECTIONS = 100
_FILES_BETWEEN_FULL_COLLECTIONS = 1_000


class Collecting:
    """Counts files, and collects garbage after many.

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
        elif self._files % _FILES_BETWEEN_COLLECTIONS == 0:
            gc.collect(0)  # The trees that are kept would be walked anew each time.

    def end(self) -> None:
        """Go on as usual, without a look at what is there already."""
        gc.freeze()
        gc.enable()

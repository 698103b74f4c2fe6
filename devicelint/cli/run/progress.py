"""What a long run is doing and for how long: one line on a terminal, gone when it is done."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from devicelint.cli.run.progress_line import ProgressLine


def is_wanted(
    options: Namespace | None = None, environment: Mapping[str, str] = os.environ
) -> bool:
    """Whether somebody looks at standard error, and wants to know."""
    if not sys.stderr.isatty() or environment.get("TERM") == "dumb" or environment.get("CI"):
        return False
    return not any(getattr(options, name, False) for name in ("quiet", "verbose", "interactive"))


class Progress:
    """Says what is being done; it is shown where somebody wants to see it, once it takes long."""

    def __init__(self, doing: str = "", *, wanted: bool) -> None:
        """Begin with what the run does to each file, such as "checking", where there are many."""
        self._doing = doing
        self._line: ProgressLine | None = None
        if wanted:
            from devicelint.cli.run.progress_line import ProgressLine

            self._line = ProgressLine()

    @contextmanager
    def shown(self, first: str = "looking for files") -> Iterator[None]:
        """Show what is done for as long as this lasts."""
        if self._line is None:
            yield
            return
        with self._line.shown(first):
            yield

    def at(self, number: int, total: int, path: str) -> None:
        """Say that a file is being worked on, the first being number 0."""
        self.count(self._doing, number, total, path)

    def count(self, doing: str, number: int, total: int, path: str) -> None:
        """Say that something is done to a file, the first being number 0."""
        if self._line is None:
            return
        if total == 1:
            self._line.say(f"{doing} {path}")
        else:
            self._line.say(f"{doing} {number + 1:,} of {total:,} files", path)

    def now(self, doing: str) -> None:
        """Say that something else is done from here on."""
        if self._line is not None:
            self._line.begin(doing)

"""How far a long run is: a bar on a terminal, and gone when anything else is printed there."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

_LONG = 1.0
"""Seconds after which a run is long."""
_BETWEEN_LOOKS = 0.1


class Progress:
    """Shows which file is being checked, once a run takes long."""

    def __init__(self, options: Namespace, clock: Callable[[], float] = monotonic) -> None:
        """Be silent where nobody looks at a terminal, or nobody wants to know."""
        is_shown = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._wanted = is_shown and not (options.quiet or options.verbose)
        self._clock = clock
        self._next = clock() + _LONG
        self._bar: Bar | None = None
        self._is_drawn = False
        self._last = 0, 0, ""

    def at(self, number: int, total: int, path: str) -> None:
        """Say that a file is being checked, the first being number 0."""
        self._last = number, total, path
        if not self._wanted or self._clock() < self._next:
            return
        self._next = self._clock() + _BETWEEN_LOOKS
        if self._bar is None:
            self._bar = _bar()
        self._bar.update(self._bar.task_ids[0], total=total, completed=number, path=path)
        if not self._is_drawn:
            self._bar.start()
            self._is_drawn = True
        self._bar.refresh()

    def still(self) -> None:
        """Say that it is the same file as before."""
        self.at(*self._last)

    def hide(self) -> None:
        """Make room for what is printed."""
        if self._is_drawn and self._bar is not None:
            self._bar.stop()
            self._is_drawn = False


def _bar() -> Bar:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar
    from rich.table import Column

    bar = Bar(
        MofNCompleteColumn(),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[path]}", markup=False, table_column=Column(no_wrap=True)),
        console=Console(stderr=True),
        auto_refresh=False,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    bar.add_task("", path="")
    return bar

"""A line on a terminal that is kept up to date while work goes on, and leaves no trace."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING

from devicelint.cli import terminal
from devicelint.output.visible import printable

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text

LONG = 1.0
"""Seconds after which work is long."""
_BETWEEN_LOOKS = 0.25
_AFTER_OUTPUT = 0.5
"""Seconds without the line where something else has just been printed."""


class ProgressLine:
    """Says "checking 120 of 1,040 files, 12 s" once it is long."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        """Show nothing yet."""
        self._clock = clock
        self._began = clock()
        self._next = self._began + LONG
        self._doing, self._what = "", ""
        self._live: Live | None = None
        self._lock = Lock()
        self._is_over = Event()

    @contextmanager
    def shown(self, first: str) -> Iterator[None]:
        """Look at the clock now and then for as long as this lasts, however long a step takes."""
        self.begin(first)
        Thread(target=self._look_again, name="progress", daemon=True).start()
        try:
            with terminal.passing(self.hide):
                yield
        finally:
            self._is_over.set()
            self.hide()

    def begin(self, doing: str) -> None:
        """Say what is done, and measure its time from here on."""
        self._began = self._clock()
        self.say(doing)

    def say(self, doing: str, what: str = "") -> None:
        """Say what is done, and to what."""
        self._doing, self._what = doing, what
        self.look()

    def look(self) -> None:
        """Bring the line up to date, where it is time for that."""
        with self._lock:
            if self._clock() < self._next or self._is_over.is_set():
                return
            self._next = self._clock() + _BETWEEN_LOOKS
            if self._live is None:
                self._live = _live(self._text)
                self._live.start()
            self._live.refresh()

    def hide(self) -> None:
        """Make room for what is printed."""
        with self._lock:
            if self._live is not None:
                self._live.stop()
                self._live = None
                self._next = self._clock() + _AFTER_OUTPUT

    def _look_again(self) -> None:
        while not self._is_over.wait(_BETWEEN_LOOKS):
            self.look()

    def _text(self) -> Text:
        from rich.text import Text

        seconds = self._clock() - self._began
        text = Text(no_wrap=True, overflow="ellipsis")
        text.append(printable(f"{self._doing}, {seconds:,.0f} s"))
        if self._what:
            text.append(printable(f": {self._what}"), "dim")
        return text


def _live(text: Callable[[], Text]) -> Live:
    from rich.console import Console
    from rich.live import Live

    return Live(
        console=Console(stderr=True, highlight=False),
        auto_refresh=False,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
        get_renderable=text,
    )

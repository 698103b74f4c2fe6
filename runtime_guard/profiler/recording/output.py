"""The file of a recording through the life of its process: children, forks, failures, the end."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from multiprocessing.util import Finalize
from pathlib import Path

from runtime_guard import distributed
from runtime_guard.profiler.recording.journal import Journal
from runtime_guard.profiler.recording.paths import is_child, own_path
from runtime_guard.profiler.recording.watch import complain


class Output:
    """Writes to the file of this process; a child process has one from its first event on.

    Args:
        path: the file of the whole run.
        max_bytes: how large the file of one process may become.
        head: makes the lines that a file begins with, given whether it continues another.
        totals: makes the line of totals.
    """

    def __init__(
        self,
        path: Path,
        max_bytes: int,
        head: Callable[[bool], str],
        totals: Callable[[], str],
    ) -> None:
        self.path = path
        self._is_child = is_child(distributed.rank())
        self._make = partial(Journal, max_bytes=max_bytes, head=head, totals=totals)
        self._journal: Journal | None = None
        self._complained = False

    def open(self) -> None:
        """Begin the file, or go on with it.

        Raises:
            OSError: it cannot be written.
        """
        if self._journal is not None or not self._is_child:
            self._open()

    def _open(self) -> None:
        if self._journal is None:
            journal = self._make(own_path(self.path, distributed.rank(), self._is_child))
            journal.open()
            self._journal = journal
        else:
            self._journal.open()

    def append(self, line: Callable[[], str], size: int, at_exit: Callable[[], None]) -> None:
        """Take one more line; `at_exit` ends the recording of a child process."""
        if self._journal is None:
            self._open_late(at_exit)
        if self._journal is not None:
            self._journal.append(line, size)
            self._report_failure()

    def _open_late(self, at_exit: Callable[[], None]) -> None:
        if self._complained:
            return
        try:
            self._open()
        except OSError as error:
            self._complained = True
            complain(f"runtime_guard: {error}")
        else:
            # A process that multiprocessing forked ends without the functions of atexit.
            Finalize(None, at_exit, exitpriority=0)

    def tick(self) -> None:
        """Write what is old enough."""
        if self._journal is not None:
            self._journal.tick()
            self._report_failure()

    def close(self, reason: str, at: float, lines: str = "") -> None:
        """End the file, with `lines` before its end."""
        if self._journal is not None:
            end = json.dumps({"type": "end", "at": round(at, 3), "reason": reason})
            self._journal.close(f"{lines}{end}\n")
            self._report_failure()

    def add(self, lines: str) -> None:
        """Write some lines now, whether the recording was ended or not."""
        if self._journal is not None:
            self._journal.flush(lines, totals=True)
            self._report_failure()

    @property
    def is_closed(self) -> bool:
        """Whether the recording was ended."""
        return self._journal is not None and self._journal.is_closed

    def leave_to_parent(self) -> None:
        """Let go of the file, in a process that was forked off."""
        if self._journal is not None:
            self._journal.abandon()
        self._journal = None
        self._is_child = True

    def _report_failure(self) -> None:
        assert self._journal is not None
        failure = self._journal.failure
        if failure is not None and not self._complained:
            self._complained = True
            complain(
                f"runtime_guard cannot write to {self._journal.path} any more ({failure}): "
                "the recording goes on in memory"
            )

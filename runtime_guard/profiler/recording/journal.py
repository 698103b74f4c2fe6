"""Writes a recording to disk as JSON Lines: whole lines in batches, into files of bounded size.

Only the thread that records writes: a thread for it would have Python warn of every fork. What a
killed run loses is its last batch.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic

from runtime_guard.profiler.recording.paths import child_path, rotated_name

BATCH = 256
BATCH_SECONDS = 0.5
TOTALS_SECONDS = 5.0


class Journal:
    """One recording on disk. Its caller sees to it that one thread at a time is here.

    Args:
        path: the file to write.
        max_bytes: how large it may become, its older half included.
        head: makes the lines that a file begins with, given whether it continues another.
        totals: makes the line of totals, of everything up to now.

    Attributes:
        path: the file that is written; the older half of a long recording lies beside it.
        failure: what keeps it from writing, if anything: the recording goes on in memory.
    """

    def __init__(
        self,
        path: Path,
        max_bytes: int,
        head: Callable[[bool], str],
        totals: Callable[[], str],
    ) -> None:
        self.path = path
        self.failure: OSError | None = None
        self._half = max_bytes // 2
        self._head, self._totals = head, totals
        self._file: int | None = None
        self._size = self._waiting = 0
        self._begun = False
        self._batch: list[Callable[[], str]] = []
        self._flushed = self._totalled = monotonic()

    @property
    def is_closed(self) -> bool:
        """Whether nothing is written any more."""
        return self._file is None

    def open(self) -> None:
        """Begin the file anew; the second time, go on where it was closed.

        Raises:
            OSError: it cannot be written.
        """
        try:
            self._open()
            self._write(self._head(self._begun))
        except OSError as error:
            self._release()
            why = error.strerror or str(error)
            message = f"cannot record transfers: {why}"
            raise OSError(error.errno, message, str(self.path)) from error
        self._begun = True
        self._flushed = self._totalled = monotonic()

    def append(self, line: Callable[[], str], size: int) -> None:
        """Take one more line, of about that size, which is made when its batch is written."""
        self._batch.append(line)
        self._waiting += size
        self.tick()

    def tick(self) -> None:
        """Write the batch, if it is full or old enough."""
        full = len(self._batch) >= BATCH or self._waiting > self._half // 4
        if full or monotonic() - self._flushed >= BATCH_SECONDS:
            self.flush()

    def flush(self, last: str = "", *, totals: bool = False) -> None:
        """Write the batch, now and then with totals, and `last` behind them."""
        self._flushed = monotonic()
        lines = "".join(f"{line()}\n" for line in self._batch)
        self._forget_batch()
        if self._file is None:
            return
        if totals or self._flushed - self._totalled >= TOTALS_SECONDS:
            lines += self._with_totals()
        lines += last
        try:
            if self._size + len(lines) > self._half:
                # The old file is complete only with these lines: they go first into the new one.
                lines = lines if totals else lines + self._with_totals()
                self._rotate(lines)
            else:
                self._write(lines)
        except OSError as error:
            self.failure = error
            self._release()

    def close(self, last: str) -> None:
        """Write what is left, the totals and `last`; after a failure, try once more."""
        if self.failure is not None and self._begun:
            with suppress(OSError):
                self._open()
            self.failure = None
        self.flush(last, totals=True)
        self._release()

    def abandon(self) -> None:
        """Forget the file, which is another process's."""
        self._release()
        self._forget_batch()

    def _forget_batch(self) -> None:
        self._batch.clear()
        self._waiting = 0

    def _with_totals(self) -> str:
        self._totalled = self._flushed
        return f"{self._totals()}\n"

    def _rotate(self, lines: str) -> None:
        self._release()
        self.path.replace(rotated_name(self.path))
        self._open()
        self._write(self._head(True) + lines)

    def _open(self) -> None:
        file = _opened(self.path)
        if not _locked(file):
            # Another process of this run, or another run, is writing there.
            os.close(file)
            self.path = child_path(self.path)
            file = _opened(self.path)
            _locked(file)
        self._file = file
        if not self._begun:
            rotated_name(self.path).unlink(missing_ok=True)
            os.ftruncate(file, 0)
        self._size = os.fstat(file).st_size

    def _write(self, text: str) -> None:
        """Write whole lines, or none of them."""
        if self._file is None or not text:
            return
        left = text.encode("ascii")
        try:
            while left:
                left = left[os.write(self._file, left) :]
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._file, self._size)
            raise
        self._size += len(text)

    def _release(self) -> None:
        if self._file is not None:
            with suppress(OSError):
                os.close(self._file)
            self._file = None


def _opened(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)


def _locked(file: int) -> bool:
    """Claim the file, where the system can: two processes must not write to one."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        # Some network file systems have no locks.
        return True
    return True

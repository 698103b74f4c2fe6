"""Processes that check files before their turn comes."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import suppress
from threading import local
from typing import TYPE_CHECKING, cast

from devicelint.cli import terminal

if TYPE_CHECKING:
    from devicelint.cli.run.worker import Answer
    from devicelint.config import Config

File = tuple[str, "Config", int]
"""A file as it is called in reports, its settings, and how many bytes it has."""

_PIECES = 3
"""The share of each process in what is left is cut so often, so that all end at the same time."""
_SMALLEST_PIECE, _LARGEST_PIECE = 50_000, 300_000
"""Bytes; what is found in a piece is returned once it is done."""

# The path comes before any import: a module of the checked folder must not take another's place.
_BEGIN = "import sys; sys.path[:] = {}; from devicelint.cli.run import worker; worker.serve()"


class _Died(Exception):
    """A process did not answer."""


class _Process:
    """One process, which is given work and answers, piece by piece, until there is no more."""

    def __init__(self) -> None:
        """Start it."""
        command = [sys.executable, "-c", _BEGIN.format(sys.path)]
        self._running = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def answer(self, work: Sequence[tuple[str, Config]]) -> Answer:
        """What the process says of some files; raises _Died."""
        assert self._running.stdin is not None
        assert self._running.stdout is not None
        try:
            pickle.dump(work, self._running.stdin)
            self._running.stdin.flush()
            return cast("Answer", pickle.load(self._running.stdout))
        except (OSError, EOFError, pickle.UnpicklingError):
            raise _Died from None

    def kill(self) -> None:
        """End it, whatever it does."""
        self._running.kill()

    def forget(self) -> None:
        """Take leave of it, once it has ended and nobody waits for it."""
        # Closing its pipe may fail, too: what it was sent last can still be in the buffer.
        with suppress(OSError), self._running:
            self.kill()


class Processes:
    """Checks files in processes, those first that come first.

    Where this process can check files ahead of their turn, it is one of them: it begins with the
    first files while the others start, and takes what is left while it would have to wait.
    """

    def __init__(
        self,
        jobs: int,
        files: Sequence[File],
        learn: Callable[[Answer], None],
        check_ahead: Callable[[str], None] | None,
    ) -> None:
        """Begin; `learn` is reported what each piece of the work came to."""
        self._learn, self._check_ahead = learn, check_ahead
        self._own = local()
        self._all: list[_Process] = []
        self._is_over = False
        pieces = list(_cut(files, jobs))
        is_one_of_them = check_ahead is not None
        # Each thread waits for one process.
        self._executor = ThreadPoolExecutor(jobs - is_one_of_them)
        self._pieces: dict[str, Future[Answer]] = {}
        self._taken: set[int] = set()
        self._waiting: deque[tuple[list[str], Future[Answer]]] = deque()
        self._ahead: deque[str] = deque()
        for piece in pieces[is_one_of_them:]:
            future = self._executor.submit(self._answer, piece)
            paths = [path for path, _ in piece]
            self._waiting.append((paths, future))
            self._pieces |= dict.fromkeys(paths, future)

    def wait(self, path: str) -> None:
        """Wait until a file has been checked; where its process has died, it has not."""
        future = self._pieces.pop(path, None)
        if future is None or id(future) in self._taken:
            return
        self._taken.add(id(future))
        if self._check_ahead is not None:
            if future.cancel():
                return
            self._work_until(future, self._check_ahead)
        try:
            answer = future.result()
        except CancelledError:
            return
        except _Died:
            terminal.say("devicelint: a process has died; its files are checked in this one")
        else:
            self._learn(answer)

    def _work_until(self, future: Future[Answer], check_ahead: Callable[[str], None]) -> None:
        """Check files that nobody has begun with, one after the other."""
        while not future.done():
            while self._waiting and not self._ahead:
                paths, other = self._waiting.popleft()
                self._ahead.extend(paths if other.cancel() else ())
            if not self._ahead:
                return
            check_ahead(self._ahead.popleft())

    def close(self) -> None:
        """End the processes."""
        self._is_over = True
        for process in self._all:
            process.kill()
        self._executor.shutdown(cancel_futures=True)
        for process in self._all:
            process.forget()

    def _answer(self, work: Sequence[tuple[str, Config]]) -> Answer:
        if self._is_over:
            raise _Died
        process: _Process | None = getattr(self._own, "process", None)
        if process is None:
            process = self._own.process = _Process()
            self._all.append(process)
        try:
            return process.answer(work)
        except _Died:
            self._own.process = None
            raise


def _cut(files: Sequence[File], jobs: int) -> Iterator[list[tuple[str, Config]]]:
    """Pieces of neighbouring files, which often import the same others; the last are small."""
    left = sum(size for *_, size in files)
    piece: list[tuple[str, Config]] = []
    total = 0
    for path, config, size in files:
        piece.append((path, config))
        total += size
        share = left // (jobs * _PIECES)
        if total >= max(_SMALLEST_PIECE, min(share, _LARGEST_PIECE)):
            yield piece
            left -= total
            piece, total = [], 0
    if piece:
        yield piece

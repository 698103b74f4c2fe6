"""Processes that check files before their turn comes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import active_children, get_context
from typing import TYPE_CHECKING

from devicelint.cli import terminal, worker

if TYPE_CHECKING:
    from devicelint.config import Config

File = tuple[str, "Config", int]
"""A file as it is called in reports, its settings, and how many bytes it has."""

_PIECES = 6
"""Into how many pieces the work of each process is cut, so that all end at about the same time."""
_SMALLEST_PIECE = 50_000


class Processes:
    """Checks files in processes, those first that come first."""

    def __init__(
        self, jobs: int, files: Sequence[File], learn: Callable[[worker.Answer], None]
    ) -> None:
        """Begin; `learn` is told what each piece of the work came to."""
        self._learn = learn
        # Not forked: a fork takes over locks, and the threads that hold them stay behind.
        self._executor = ProcessPoolExecutor(jobs, get_context("spawn"), worker.begin)
        self._pieces: dict[str, Future[worker.Answer]] = {}
        self._taken: set[int] = set()
        for piece in _cut(files, jobs):
            future = self._executor.submit(worker.answer, piece)
            self._pieces |= {path: future for path, _ in piece}

    def wait(self, path: str) -> None:
        """Wait until a file has been checked; where its process has died, it has not."""
        future = self._pieces.pop(path, None)
        if future is None or id(future) in self._taken:
            return
        self._taken.add(id(future))
        try:
            answer = future.result()
        except BrokenProcessPool:
            terminal.say("devicelint: a process has died; what is left is checked in this one")
            self._pieces.clear()
        else:
            self._learn(answer)

    def close(self) -> None:
        """End the processes."""
        self._executor.shutdown(wait=False, cancel_futures=True)
        for process in active_children():
            process.terminate()


def _cut(files: Sequence[File], jobs: int) -> Iterator[list[tuple[str, Config]]]:
    """Pieces of neighbouring files, which often import the same others."""
    enough = max(_SMALLEST_PIECE, sum(size for *_, size in files) // (jobs * _PIECES))
    piece: list[tuple[str, Config]] = []
    total = 0
    for path, config, size in files:
        piece.append((path, config))
        total += size
        if total >= enough:
            yield piece
            piece, total = [], 0
    if piece:
        yield piece

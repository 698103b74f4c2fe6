"""What a process of its own does for a run: it checks files, and says on what that rests."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import suppress
from multiprocessing import connection, parent_process
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple

from devicelint.cache.codec import error_data, found_data
from devicelint.cli.collecting import Collecting
from devicelint.cli.examining import examine
from devicelint.digest import digest
from devicelint.files import read_data
from devicelint.finding import InputError
from devicelint.lookup import Question
from devicelint.source import SourceFile

if TYPE_CHECKING:
    from devicelint.config import Config
    from devicelint.project import Project

Work = Sequence[tuple[str, "Config"]]
"""Files, as they are called in reports."""


class Answer(NamedTuple):
    """What was found in some files, and on what that rests."""

    found: dict[str, tuple[str, Any]]
    """By path: what the file held, and what is found there."""
    asked: dict[str, dict[Question, str | None]]
    digests: dict[str, str | None]


class Worker:
    """Checks files, with what it has read for earlier ones at hand."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._project = _project()
        self._collecting = Collecting()
        self._told: dict[str, int] = {}

    def answer(self, work: Work) -> Answer:
        """What is found in the files; nothing of those that fail, which are checked elsewhere."""
        found = {}
        for path, config in work:
            # Whatever it is, it is told by the run itself, which checks such a file then.
            with suppress(Exception):
                found[path] = self._found(path, config)
            self._collecting.after_one()
        return Answer(found, dict(self._newly_asked()), self._project.digests)

    def _found(self, path: str, config: Config) -> tuple[str, Any]:
        data = read_data(Path(path))
        source = SourceFile.from_bytes(data, path)
        try:
            found = found_data(examine(source, config, lambda: self._project))
        except InputError as error:
            if not error.lasts:
                raise
            found = error_data(error)
        return digest(data), found

    def _newly_asked(self) -> Iterator[tuple[str, dict[Question, str | None]]]:
        for home, asked in self._project.asked.items():
            if self._told.get(home) != len(asked):
                self._told[home] = len(asked)
                yield home, asked


def _project() -> Project:
    # Here, and not where the process is started from, which need not know libcst.
    from devicelint.project import Project

    return Project()


_workers: list[Worker] = []


def begin() -> None:
    """Prepare a process: it ends with the one that started it, which alone is interrupted."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()
    _workers.append(Worker())


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def answer(work: Work) -> Answer:
    """Check some files in a process that has begun."""
    return _workers[0].answer(work)

"""What a process of its own does for a run: it checks files, and says on what that rests."""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from devicelint.cache.codec import error_data, found_data
from devicelint.cli.run.examine import examine
from devicelint.finding import InputError
from devicelint.linter.garbage import Collecting
from devicelint.text.hashing import digest
from devicelint.text.source import SourceFile
from devicelint.workspace.files import read_data
from devicelint.workspace.import_resolver import Question
from devicelint.workspace.project import Project

if TYPE_CHECKING:
    from devicelint.config import Config

Work = Sequence[tuple[str, "Config"]]
"""Files, as they are called in reports."""


class Answer(NamedTuple):
    """What was found in some files, and on what that rests."""

    found: dict[str, tuple[str, Any]]
    """By path: what the file held, and what is found there."""
    asked: dict[str, dict[Question, str | None]]
    digests: dict[str, str | None]


class WorkerProcess:
    """Checks files, with what it has read for earlier ones at hand."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._project = Project()
        self._collecting = Collecting()
        self._counted: dict[str, int] = {}

    def answer(self, work: Work) -> Answer:
        """What is found in the files; nothing of those that fail, which are checked elsewhere."""
        found = {}
        for path, config in work:
            # Whatever it is, it is reported by the run itself, which checks such a file then.
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
            if self._counted.get(home) != len(asked):
                self._counted[home] = len(asked)
                yield home, asked


def serve() -> None:
    """Answer what standard input asks for, until it ends, as it does with whoever asks."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # The one that is interrupted ends this one.
    asked, answers = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # Whatever is printed is no answer.
    worker = WorkerProcess()
    with suppress(EOFError, BrokenPipeError):
        while True:
            pickle.dump(worker.answer(pickle.load(asked)), answers)
            answers.flush()

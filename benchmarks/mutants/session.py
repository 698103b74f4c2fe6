"""A process that has imported what a subject needs, and runs the subject's tests on request.

    with session_of(place, subject) as session:
        run = session.run([Replaced(file, before, after)], tests, limit=20.0)

No file of the copy is changed: each request gives functions the code of another text, in a process
forked for it.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from benchmarks.corpora.outcomes import SuiteOutcome, TestResult, read_results
from benchmarks.corpora.running import Extras, Workplace, run_tests
from benchmarks.corpora.subjects import Subject

CHILD = Path(__file__).parent / "child"

LONGEST = 7200.0
"""In seconds: no session lasts longer."""


class SessionError(Exception):
    """A process that could not get as far as to run tests, or that ended meanwhile."""


@dataclass(frozen=True)
class Replaced:
    """A file that gets another text for a run.

    Attributes:
        file: its path below the copy.
        before: its text as it is.
        after: its text for the run.
    """

    file: str
    before: str
    after: str


@dataclass(frozen=True)
class TestRun:
    """What a test came to in a run.

    Attributes:
        result: how it ended.
        made: the moves that were made, by their index.
        places: the lines below the copy that its error came through, the innermost last.
    """

    __test__ = False

    result: TestResult
    made: tuple[int, ...] = ()
    places: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Answer:
    """What a request came to.

    Attributes:
        tests: those that ended, in their order.
        is_late: whether the time was over before all had.
        needs_import: whether the texts differ in what only an import executes: no test ran.
        told: what else there is to say.
    """

    tests: tuple[TestRun, ...]
    is_late: bool = False
    needs_import: bool = False
    told: str = ""


class Session:
    """The near end of the connection.

    Args:
        tree: the copy of the checkout.
        folder: a folder for what requests write.
        stream: the connection.
    """

    def __init__(self, tree: Path, folder: Path, stream: TextIO) -> None:
        self.tree = tree
        self._folder = folder
        self._stream = stream
        self._requests = 0

    def run(
        self,
        texts: Sequence[Replaced],
        tests: Sequence[str] = (),
        *,
        limit: float,
        lenient: bool = False,
    ) -> Answer:
        """Run these tests, or all, with other texts.

        Where lenient, what is not in a function stays as it was.

        Raises:
            SessionError: the process is gone.
        """
        self._requests += 1
        notes = self._folder / str(self._requests)
        notes.mkdir()
        pairs = [(os.path.realpath(self.tree / t.file), t.before, t.after) for t in texts]
        reply = self._ask(
            {
                "folder": str(notes),
                "texts": pairs,
                "tests": list(tests),
                "limit": limit,
                "lenient": lenient,
            }
        )
        found = tuple(_test_runs(notes))
        shutil.rmtree(notes)
        said = str(reply["said"])
        return Answer(found, reply["ending"] == "late", said.startswith("import:"), said)

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            self._stream.write(json.dumps(request) + "\n")
            self._stream.flush()
            line = self._stream.readline()
        except OSError as error:
            raise SessionError(f"the session is gone: {error}") from error
        if not line:
            raise SessionError("the session is gone")
        reply: dict[str, Any] = json.loads(line)
        return reply


def _test_runs(notes: Path) -> Iterator[TestRun]:
    results = {each.test: each for each in read_results(notes / "results.jsonl")}
    path = notes / "notes.jsonl"
    seen = set()
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        data = json.loads(line)
        seen.add(data["test"])
        if data["test"] in results:
            places = tuple((str(file), int(number)) for file, number in data["places"])
            yield TestRun(results[data["test"]], tuple(data["made"]), places)
    yield from (TestRun(result) for test, result in results.items() if test not in seen)


@contextmanager
def session_of(
    place: Workplace, subject: Subject, tree: Path, files: Sequence[str], limit: float = 600.0
) -> Iterator[Session]:
    """A session with the tests of a subject; `files` are those whose text may be another one.

    Raises:
        SessionError: the tests could not be collected within the limit.
    """
    tree = tree.resolve()
    with (
        tempfile.TemporaryDirectory(prefix="session-") as name,
        socket.socket(socket.AF_UNIX) as listener,
    ):
        folder = Path(name)
        listener.bind(str(folder / "socket"))
        listener.listen(1)
        listing = {"tree": str(tree), "files": [os.path.realpath(tree / file) for file in files]}
        (folder / "files.json").write_text(json.dumps(listing), encoding="utf-8")
        extras = Extras(
            path=(CHILD,),
            variables={
                "MUTANTS_SOCKET": str(folder / "socket"),
                "MUTANTS_FILES": str(folder / "files.json"),
                "PYTEST_PLUGINS": "mutants_session",
            },
        )
        worker = _Worker(place, subject, tree, extras)
        worker.start()
        try:
            with _connection(listener, worker, limit) as stream:
                _ready(stream, worker)
                yield Session(tree, folder, stream)
        finally:
            worker.join()


class _Worker(threading.Thread):
    """Waits for the process of a session."""

    def __init__(self, place: Workplace, subject: Subject, tree: Path, extras: Extras) -> None:
        super().__init__(daemon=True)
        self._run = lambda: run_tests(place, subject, tree, extras=extras, limit=LONGEST)
        self.outcome: SuiteOutcome | None = None

    def run(self) -> None:
        self.outcome = self._run()

    @property
    def fault(self) -> str:
        """Why the process ended."""
        return self.outcome.fault if self.outcome else "it could not be started"


@contextmanager
def _connection(listener: socket.socket, worker: _Worker, limit: float) -> Iterator[TextIO]:
    listener.settimeout(0.5)
    waited = 0.0
    while True:
        try:
            connection, _ = listener.accept()
            break
        except TimeoutError:
            waited += 0.5
            if not worker.is_alive():
                raise SessionError(worker.fault) from None
            if waited > limit:
                raise SessionError("the tests are not collected in time") from None
    connection.settimeout(None)
    # Closing both ends the process.
    with connection, connection.makefile("rw", encoding="utf-8") as stream:
        yield stream


def _ready(stream: TextIO, worker: _Worker) -> None:
    if not stream.readline():
        worker.join()
        raise SessionError(worker.fault)

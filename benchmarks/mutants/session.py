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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.corpora.outcomes import TestResult, read_results
from benchmarks.corpora.running import Extras, Workplace, run_tests
from benchmarks.corpora.subjects import Subject
from benchmarks.mutants.connection import LONGEST, Connection, connected


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
    """Tests that are run on request.

    Args:
        tree: the copy of the checkout.
        connection: the near end of the connection.
    """

    def __init__(self, tree: Path, connection: Connection) -> None:
        self.tree = tree
        self._connection = connection
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
        notes = self._connection.folder / str(self._requests)
        notes.mkdir()
        pairs = [(os.path.realpath(self.tree / t.file), t.before, t.after) for t in texts]
        reply = self._connection.ask(
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
    place: Workplace, subject: Subject, tree: Path, files: Sequence[str]
) -> Iterator[Session]:
    """A session with the tests of a subject; `files` are those whose text may be another one.

    Raises:
        SessionError: the tests could not be collected.
    """
    tree = tree.resolve()
    listing = {"tree": str(tree), "files": [os.path.realpath(tree / file) for file in files]}
    listed = tree.parent / "files.json"
    listed.write_text(json.dumps(listing), encoding="utf-8")

    def start(extras: Extras) -> str:
        return run_tests(place, subject, tree, extras=extras, limit=LONGEST).fault

    variables = {"MUTANTS_FILES": str(listed), "PYTEST_PLUGINS": "mutants_session"}
    with connected(start, variables) as connection:
        yield Session(tree, connection)

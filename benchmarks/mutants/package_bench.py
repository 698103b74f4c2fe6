"""Runs mutants in the tests of a package."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.corpora.outcomes import TestResult
from benchmarks.corpora.running import Extras, Workplace, run_tests
from benchmarks.corpora.subjects import Subject
from benchmarks.mutants.benches import BenchError, Failure, first_line
from benchmarks.mutants.connection import SessionError
from benchmarks.mutants.mutant import Mutant, marked_files, read
from benchmarks.mutants.session import Replaced, Session, TestRun, session_of

MOST_TESTS = 4
"""So many tests that reach its place decide on a mutant: the quickest, of different functions."""

SECONDS = 15.0
"""Beyond the first, no test is taken with which all would last longer."""

BASELINE_LIMIT = 1500.0

Reached = dict[int, tuple[str, ...]]


class PackageBench:
    """The tests of a package, run in one session."""

    __test__ = False

    def __init__(self, place: Workplace, subject: Subject, session: Session) -> None:
        self.tree = session.tree
        self.reached: Reached = {}
        self._place = place
        self._subject = subject
        self._session = session
        self._steady: dict[str, bool] = {}
        self._fresh: Path | None = None

    def tests_that_reach(self, index: int) -> tuple[str, ...]:
        """Those that come to the place of a mutant, and pass with something on a GPU."""
        return self.reached.get(index, ())

    def run(self, texts: Mapping[str, str], tests: Sequence[str]) -> tuple[Failure, ...]:
        """Run some tests, with other texts for files; what fails."""
        replaced = [
            Replaced(file, read(self.tree / file) or "", text) for file, text in texts.items()
        ]
        limit = 60.0 + 4 * SECONDS
        answer = self._session.run(replaced, tests, limit=limit)
        if answer.needs_import:
            return self._run_fresh(texts, tests)
        failures = tuple(_failures(answer.tests))
        missing = set(tests) - {each.result.test for each in answer.tests}
        told = "not done in time" if answer.is_late else first_line(answer.told)
        return failures + tuple(
            Failure(test, told, about_devices=False) for test in sorted(missing)
        )

    def is_steady(self, test: str) -> bool:
        """Whether a test passes without any mutant, alone and in a process of its own."""
        if test not in self._steady:
            self._steady[test] = not self.run({}, [test])
        return self._steady[test]

    def _run_fresh(self, texts: Mapping[str, str], tests: Sequence[str]) -> tuple[Failure, ...]:
        """Run them in a copy that has these texts: what they change is executed by an import."""
        if self._fresh is None:
            name = f"{self._subject.folder_name}-fresh"
            self._fresh = self._place.lay_out(self._subject, name).resolve()
        before = {file: (self._fresh / file).read_bytes() for file in texts}
        try:
            for file, text in texts.items():
                (self._fresh / file).write_bytes(text.encode())
            extras = Extras(tests=tuple(tests))
            done = run_tests(self._place, self._subject, self._fresh, extras=extras, limit=300.0)
        finally:
            for file, data in before.items():
                (self._fresh / file).write_bytes(data)
        passed = done.ids("passed", "skipped")
        failed = [each for each in done.results if each.outcome in ("failed", "error")]
        found = {each.test: _failure(TestRun(each)) for each in failed}
        told = failed[0] if failed else None
        return tuple(
            found.get(test) or Failure(test, told.told if told else done.fault, False)
            for test in tests
            if test not in passed
        )


def _failures(runs: Iterable[TestRun]) -> Iterator[Failure]:
    for run in runs:
        if run.result.outcome in ("failed", "error"):
            yield _failure(run)


def _failure(run: TestRun) -> Failure:
    result = run.result
    return Failure(result.test, first_line(result.told), result.is_device_error, run.places)


@contextmanager
def bench_of_tests(
    place: Workplace, subject: Subject, tree: Path, mutants: Sequence[Mutant], notes: Path
) -> Iterator[PackageBench]:
    """A bench with the tests of a subject; `notes` keeps what its tests reach.

    Raises:
        BenchError: its tests cannot be run.
    """
    files = tuple(dict.fromkeys(mutant.file for mutant in mutants))
    try:
        with session_of(place, subject, tree, files) as session:
            bench = PackageBench(place, subject, session)
            bench.reached = _noted(notes) or _reached(session, mutants)
            _note(notes, bench.reached)
            yield bench
    except SessionError as error:
        raise BenchError(f"{subject.name}: {error}") from error


def _reached(session: Session, mutants: Sequence[Mutant]) -> Reached:
    """Which tests reach the place of each mutant: one run of all, with the places marked."""
    texts = [Replaced(*each) for each in marked_files(mutants)]
    answer = session.run(texts, limit=BASELINE_LIMIT, lenient=True)
    runs = [run for run in answer.tests if run.result.outcome == "passed" and run.result.gpu_bytes]
    by_index: dict[int, list[TestResult]] = {}
    by_file: dict[str, dict[str, TestResult]] = {}
    for run in runs:
        for index in run.made:
            by_index.setdefault(index, []).append(run.result)
            by_file.setdefault(mutants[index].file, {})[run.result.test] = run.result
    reached = {index: chosen(results) for index, results in by_index.items()}
    for index, mutant in enumerate(mutants):
        # What an import executes is executed for each test that uses the file.
        if index not in reached and mutant.omission.is_outside_functions:
            reached[index] = chosen(by_file.get(mutant.file, {}).values())
    return reached


def chosen(results: Iterable[TestResult]) -> tuple[str, ...]:
    """The tests that decide: the quickest, of different functions first."""
    ordered = sorted(results, key=lambda each: (each.seconds, each.test))
    first: dict[str, TestResult] = {}
    for each in ordered:
        first.setdefault(each.test.partition("[")[0], each)
    others = [each for each in ordered if each not in first.values()]
    found: list[str] = []
    spent = 0.0
    for each in (*first.values(), *others):
        if len(found) < MOST_TESTS and (not found or spent + each.seconds <= SECONDS):
            found.append(each.test)
            spent += each.seconds
    return tuple(found)


def _note(notes: Path, reached: Reached) -> None:
    notes.parent.mkdir(parents=True, exist_ok=True)
    notes.write_text(json.dumps(list(reached.items())), encoding="utf-8")


def _noted(notes: Path) -> Reached:
    if not notes.exists():
        return {}
    pairs = json.loads(notes.read_text(encoding="utf-8"))
    return {int(index): tuple(tests) for index, tests in pairs}

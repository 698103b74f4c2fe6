"""Mutants of all subjects in turn, a few of each at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED as FIRST
from concurrent.futures import Executor, Future, ProcessPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from typing import ParamSpec, TypeVar

from benchmarks.corpora.running import Workplace
from benchmarks.corpora.subjects import Subject, SubjectError
from benchmarks.mutants.benches import Bench, BenchError, Several
from benchmarks.mutants.connection import SessionError
from benchmarks.mutants.judging import Judged, judge
from benchmarks.mutants.linting import Linter
from benchmarks.mutants.mutant import Mutant, alternating, in_seeded_order, mutants_of, source_files
from benchmarks.mutants.package_bench import bench_of_tests
from benchmarks.mutants.script_bench import ScriptBench

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Plan:
    """What is to be done.

    Attributes:
        place: where runs take place.
        seed: what decides on the order of the mutants.
        round: so many mutants of a subject run before it is the next one's turn.
        seconds: after so long it is, too.
        done: the keys of those that were judged before.
    """

    place: Workplace
    seed: int
    round: int
    seconds: float
    done: frozenset[str]


@dataclass(frozen=True)
class Round:
    """What came of a subject's turn.

    Attributes:
        subject: its name.
        results: what became of mutants.
        is_over: whether there are no more.
        fault: why nothing could be run.
        seconds: how long it took.
    """

    subject: str
    results: tuple[Judged, ...] = ()
    is_over: bool = False
    fault: str = ""
    seconds: float = 0.0


def one_round(plan: Plan, subject: Subject) -> Round:
    """The next mutants of a subject in the order of the seed, until enough of them ran."""
    began = time.monotonic()
    results: list[Judged] = []
    fault = ""
    is_over = True
    try:
        tree = _tree(plan.place, subject)
        mutants = mutants_of(subject, tree)
        order = {mutant.key: index for index, mutant in enumerate(mutants)}
        waiting = [
            each for each in in_seeded_order(mutants, plan.seed) if each.key not in plan.done
        ]
        linter = Linter(tree, source_files(subject, tree))
        with _bench(plan.place, subject, tree, mutants) as bench:
            for mutant in waiting:
                ran = sum(each.fate != "not run" for each in results)
                if ran >= plan.round or (ran and time.monotonic() - began >= plan.seconds):
                    is_over = False
                    break
                results.append(judge(mutant, order[mutant.key], bench, linter))
    except (BenchError, SessionError, SubjectError) as error:
        fault = str(error)
    except Exception as error:  # noqa: BLE001 - a subject that breaks the judge ends its turn alone
        fault = f"{subject.name}: {type(error).__name__}: {error}"
    seconds = time.monotonic() - began
    return Round(subject.name, tuple(results), is_over or bool(fault), fault, seconds)


def _tree(place: Workplace, subject: Subject) -> Path:
    """The copy of a checkout that stays as it is."""
    name = f"{subject.folder_name}-{subject.commit[:12]}"
    tree = place.root / "trees" / name / "tree"
    return (tree if tree.is_dir() else place.lay_out(subject, name)).resolve()


@contextmanager
def _bench(
    place: Workplace, subject: Subject, tree: Path, mutants: Sequence[Mutant]
) -> Iterator[Bench]:
    # Where the subject is described otherwise, other tests may reach a place.
    version = sha256(repr(subject).encode()).hexdigest()[:8]
    notes = place.root / "reached" / f"{subject.folder_name}-{version}"
    benches: list[Bench] = []
    with ExitStack() as stack:
        if subject.tests:
            bench = bench_of_tests(place, subject, tree, mutants, notes / "tests.json")
            benches.append(stack.enter_context(bench))
        if subject.scripts:
            scripts = stack.enter_context(ScriptBench(place, subject, tree))
            scripts.look(mutants, notes / "scripts.json")
            benches.append(scripts)
        yield Several(benches)


@dataclass
class Budget:
    """When to stop.

    Attributes:
        count: after so many mutants that ran; None for all.
        seconds: after so long; None for ever.
    """

    count: int | None
    seconds: float | None
    began: float = field(default_factory=time.monotonic)
    ran: int = 0

    @property
    def is_spent(self) -> bool:
        """Whether no other round begins."""
        if self.count is not None and self.ran >= self.count:
            return True
        return self.seconds is not None and time.monotonic() - self.began >= self.seconds


def in_turn(plan: Plan, subjects: Sequence[Subject], budget: Budget, jobs: int) -> Iterator[Round]:
    """Rounds of all subjects in turn, until none has mutants left or the budget is spent."""
    done = {subject.name: plan.done for subject in subjects}
    left = alternating(subjects, plan.seed)
    with _pool(jobs) as pool:
        running: dict[Future[Round], Subject] = {}
        while running or (left and not budget.is_spent):
            while left and len(running) < jobs and not budget.is_spent:
                subject = left.pop(0)
                own = replace(plan, done=done[subject.name])
                running[pool.submit(one_round, own, subject)] = subject
            for future in wait(running, return_when=FIRST).done:
                subject, found = running.pop(future), future.result()
                done[subject.name] |= {each.key for each in found.results}
                budget.ran += sum(each.fate != "not run" for each in found.results)
                if not found.is_over:
                    left.append(subject)
                yield found


def _pool(jobs: int) -> Executor:
    if jobs == 1:
        return _OneByOne()
    return ProcessPoolExecutor(jobs, mp_context=get_context("spawn"))


class _OneByOne(Executor):
    """Does in this process what it is given, at once."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()
        future.set_result(fn(*args, **kwargs))
        return future

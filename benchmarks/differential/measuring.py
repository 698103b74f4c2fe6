"""Judges the programs of seeds, in one process or several, and keeps a few of each hole."""

from __future__ import annotations

import multiprocessing
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeVar

from benchmarks.differential.cuda import ContextLost, Cuda
from benchmarks.differential.generating import programs_of
from benchmarks.differential.holes import MOST, Hole, holes_of
from benchmarks.differential.judging import Verdict
from benchmarks.differential.program import Program
from benchmarks.differential.tally import Tally
from benchmarks.differential.trial import trial

Given = TypeVar("Given")
Made = TypeVar("Made")

_KEPT = 3
"""So many programs of each hole are kept, the shortest."""


@dataclass(frozen=True)
class Order:
    """What is judged.

    Attributes:
        seed: of which seed.
        programs: how many of its programs.
        minutes: after how long no more are judged; None for no bound.
        cuda: the GPUs on which they run, and on no other machine; None for virtual ones.
    """

    seed: int
    programs: int
    minutes: float | None = None
    cuda: Cuda | None = None


@dataclass
class Found:
    """What judging came to.

    Attributes:
        tally: the figures.
        holes: how many programs fell into each.
        examples: a few of these programs.
        lost: which program made CUDA unusable, and how; no other was judged then.
    """

    tally: Tally = field(default_factory=Tally)
    holes: Counter[Hole] = field(default_factory=Counter)
    examples: defaultdict[Hole, list[Program]] = field(default_factory=lambda: defaultdict(list))
    lost: str = ""

    def add(self, verdict: Verdict) -> None:
        """One more program."""
        self.tally.add(verdict)
        for hole in holes_of(verdict):
            self.holes[hole] += 1
            self._keep(hole, [verdict.program])

    def __iadd__(self, other: Found) -> Found:
        self.tally += other.tally
        self.holes += other.holes
        self.lost = self.lost or other.lost
        for hole, programs in other.examples.items():
            self._keep(hole, programs)
        return self

    def commonest(self, most: int = MOST) -> list[tuple[Hole, int]]:
        """The holes that most programs fell into."""
        return sorted(self.holes.items(), key=lambda item: (-item[1], item[0]))[:most]

    def _keep(self, hole: Hole, programs: Iterable[Program]) -> None:
        kept = [*self.examples[hole], *programs]
        self.examples[hole] = sorted(kept, key=lambda each: len(each.marks))[:_KEPT]


def measured(orders: Sequence[Order], jobs: int = 1) -> Found:
    """Judge all of them, so many at the same time, until CUDA is lost."""
    return _together(each_of(judged_programs, orders, jobs))


def each_of(work: Callable[[Given], Made], orders: Sequence[Given], jobs: int) -> Iterator[Made]:
    """What work makes of each order, in their order; in processes, where there are several."""
    if jobs <= 1 or len(orders) == 1:
        yield from map(work, orders)
        return
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap(work, orders, 1)


def _together(parts: Iterable[Found]) -> Found:
    found = Found()
    for part in parts:
        found += part
        if found.lost:
            break
    return found


def judged_programs(order: Order) -> Found:
    """Judge the programs of one seed."""
    found, begun = Found(), time.process_time()
    programs = islice(programs_of(order.seed), order.programs)
    with trial(cuda=order.cuda) as one:
        try:
            for verdict in one.verdicts(_until(programs, order.minutes)):
                found.add(verdict)
        except ContextLost as lost:
            found.lost = f"program {found.tally.programs + 1} of seed {order.seed}: {lost}"
    found.tally.processor_seconds = time.process_time() - begun
    return found


def _until(programs: Iterator[Program], minutes: float | None) -> Iterator[Program]:
    """The programs, until the time is over."""
    end = None if minutes is None else time.monotonic() + 60 * minutes
    for program in programs:
        if end is not None and time.monotonic() > end:
            return
        yield program

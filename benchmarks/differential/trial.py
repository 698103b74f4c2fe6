"""Tries programs: each is run, checked and judged, in batches."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count, islice

import torch

from benchmarks.differential.judging import Verdict, judged
from benchmarks.differential.linting import Linter
from benchmarks.differential.program import Program
from benchmarks.differential.regions import Watched
from benchmarks.differential.running import Bench, Runs, bench

BATCH = 25
"""So many programs run on one machine before the next is entered."""
_COLLECTED = 4
"""So many batches leave their rubbish before it is collected."""


@dataclass(frozen=True)
class Ran:
    """A program, and what became of it."""

    program: Program
    code: Watched
    runs: Runs


class Trial:
    """Runs programs and judges what the linter says of them.

    Attributes:
        linter: the linter that is judged.
    """

    def __init__(self, place: Bench) -> None:
        self._bench = place
        self.linter = Linter(place.file)

    def ran(self, programs: Iterable[Program]) -> Iterator[Ran]:
        """Run programs, a batch at a time."""
        waiting = iter(programs)
        for number in count():
            batch = list(islice(waiting, BATCH))
            if not batch:
                return
            codes = [self._bench.watched(program) for program in batch]
            yield from map(Ran, batch, codes, self._bench.run(batch, codes))
            if number % _COLLECTED == 0:
                gc.collect()
            if number == 0:
                # By now all is loaded that stays: it need not be looked through again.
                gc.freeze()

    def judge(self, ran: Ran) -> Verdict:
        """Let the linter say its word, and judge it."""
        said = self.linter.of(ran.program)
        return judged(ran.program, ran.code, ran.runs, said.claims, said.fault)

    def verdicts(self, programs: Iterable[Program]) -> Iterator[Verdict]:
        """Run and judge programs, one after the other."""
        return map(self.judge, self.ran(programs))


@contextmanager
def trial() -> Iterator[Trial]:
    """A trial for as long as the block runs, in which rubbish is collected between batches."""
    threads, collects = torch.get_num_threads(), gc.isenabled()
    torch.set_num_threads(1)
    gc.disable()
    try:
        with bench() as place:
            yield Trial(place)
    finally:
        gc.unfreeze()
        if collects:
            gc.enable()
        torch.set_num_threads(threads)

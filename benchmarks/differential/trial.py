"""Tries programs: each is run, checked and judged, in batches."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import count, islice

import torch

from benchmarks.differential.cuda import Cuda
from benchmarks.differential.judging import Verdict
from benchmarks.differential.linting import Linter
from benchmarks.differential.program import Program
from benchmarks.differential.running import Bench, Ran, bench

BATCH = 25
"""So many programs run on one machine before the next is entered."""
_COLLECTED = 4
"""So many batches leave their rubbish before it is collected."""


class Trial:
    """Runs programs and judges what the linter says of them.

    Attributes:
        linter: the linter that is judged.
        file: what the program is called.
    """

    def __init__(self, place: Bench) -> None:
        self._bench = place
        self.file = place.file
        self.linter = Linter(place.file)

    def ran(self, programs: Iterable[Program]) -> Iterator[Ran]:
        """Run programs, a batch at a time."""
        waiting = iter(programs)
        for number in count():
            batch = list(islice(waiting, BATCH))
            if not batch:
                return
            yield from self._bench.run(batch)
            if number % _COLLECTED == 0:
                gc.collect()
            if number == 0:
                # By now all is loaded that stays: it need not be looked through again.
                gc.freeze()

    def judge(self, ran: Ran) -> Verdict:
        """Let the linter say its word, and judge it."""
        return self.linter.judge(ran)

    def verdicts(self, programs: Iterable[Program]) -> Iterator[Verdict]:
        """Run and judge programs, one after the other."""
        return map(self.judge, self.ran(programs))


@contextmanager
def trial(*, cuda: Cuda | None = None) -> Iterator[Trial]:
    """A trial for as long as the block runs, in which rubbish is collected between batches."""
    threads, collects = torch.get_num_threads(), gc.isenabled()
    torch.set_num_threads(1)
    gc.disable()
    try:
        with bench(cuda=cuda) as place:
            yield Trial(place)
    finally:
        gc.unfreeze()
        if collects:
            gc.enable()
        torch.set_num_threads(threads)

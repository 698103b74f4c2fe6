"""How long each part of the work takes, where somebody asks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from time import perf_counter

REST = "all else"


class Timing:
    """Seconds by part; what is done within a part of another name counts for that one alone."""

    def __init__(self) -> None:
        """Begin."""
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._open = [REST]
        self._since = perf_counter()

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count what is done meanwhile for one part."""
        self._count()
        self._open.append(name)
        try:
            yield
        finally:
            self._count()
            self._open.pop()

    def end(self) -> dict[str, float]:
        """The seconds of each part so far."""
        self._count()
        return dict(self.seconds)

    def _count(self) -> None:
        now = perf_counter()
        self.seconds[self._open[-1]] += now - self._since
        self._since = now


_timings: list[Timing] = []
_UNTIMED = nullcontext()


def timed() -> Timing | None:
    """The timing that is going on."""
    return _timings[-1] if _timings else None


def part(name: str) -> AbstractContextManager[None]:
    """Count what is done meanwhile for one part, where that is asked for."""
    timing = timed()
    return _UNTIMED if timing is None else timing.part(name)


@contextmanager
def timing() -> Iterator[Timing]:
    """Time what is done meanwhile."""
    _timings.append(Timing())
    try:
        yield _timings[-1]
    finally:
        _timings.pop()

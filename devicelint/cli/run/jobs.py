"""In how many processes a run is worth doing."""

from __future__ import annotations

import os

_WORTH_A_PROCESS = 250_000
"""Bytes that take about twice as long to check as a process takes to start."""
_WORTH_ONE_OF_SEVERAL = 60_000
"""Bytes for each process where somebody asks for several: they end no later than one does."""


def number(jobs: int, size: int) -> int:
    """How many processes are to check so many bytes, this one among them.

    `jobs` is the most that are asked for; 0 means as many as are worth it.
    """
    if jobs > 1:
        return min(jobs, size // _WORTH_ONE_OF_SEVERAL)
    return jobs or min(_processors(), size // _WORTH_A_PROCESS)


def _processors() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # Only some systems have it.
        return os.cpu_count() or 1

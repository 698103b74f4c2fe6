"""In how many processes a run is worth doing."""

from __future__ import annotations

import os

_WORTH_A_PROCESS = 250_000
"""Bytes that take about twice as long to check as a process takes to start."""


def number(jobs: int, size: int) -> int:
    """How many processes are to check so many bytes; `jobs` of 0 means as many as are worth it."""
    return jobs or min(_processors(), size // _WORTH_A_PROCESS)


def _processors() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # Only some systems have it.
        return os.cpu_count() or 1

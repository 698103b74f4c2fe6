"""Numbers as people read them: how often, how much, how long."""

from __future__ import annotations

from collections.abc import Sequence

from devicelint.map.model import Measure


def amounts(measures: Sequence[Measure]) -> str:
    """What some lines of a recording add up to: "1,200 times · 3.4 MB · 12 ms"."""
    if not measures:
        return ""
    count = sum(one.count for one in measures)
    size = sum(one.bytes for one in measures)
    micros = sum(one.micros for one in measures)
    return " · ".join((f"{count:,}\N{MULTIPLICATION SIGN}", size_text(size), time_text(micros)))


def size_text(size: int) -> str:
    """Bytes with three digits at most: "980 B", "3.4 MB"."""
    amount = float(size)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 999.5:
            return f"{_short(amount)} {unit}"
        amount /= 1000
    return f"{_short(amount)} TB"


def time_text(micros: float) -> str:
    """A time in the largest unit of which there is one: "12 ms"."""
    for unit in ("µs", "ms"):
        if micros < 999.5:
            return f"{_short(micros)} {unit}"
        micros /= 1000
    return f"{_short(micros)} s"


def _short(amount: float) -> str:
    return f"{amount:,.0f}" if amount >= 9.95 or amount == int(amount) else f"{amount:.1f}"

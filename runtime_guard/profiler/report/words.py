"""How reports write a number, a device, a path: short, and with nothing a terminal would obey."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

UNKNOWN = "-"


def amount(count: int) -> str:
    """`12,345`."""
    return f"{count:,}"


def counted(count: int, noun: str, plural: str = "") -> str:
    """`1 copy`, `12,345 copies`."""
    return f"{amount(count)} {noun if count == 1 else plural or noun + 's'}"


def size(count: float) -> str:
    """Bytes in the units that disks and networks are sold in: `3.1 MB`."""
    if count < 1000:
        return f"{count:.0f} B"
    for unit in ("kB", "MB", "GB"):
        count /= 1000
        if count < 999.5:
            return f"{_short(count)} {unit}"
    return f"{_short(count / 1000)} TB"


def duration(microseconds: float | None) -> str:
    """`85 µs`, `1.2 ms`, `3.4 s`, `12 min`; a dash where it was not measured."""
    if microseconds is None:
        return UNKNOWN
    if microseconds < 999.5:
        return f"{_short(microseconds)} µs"
    if microseconds < 999_500:
        return f"{_short(microseconds / 1e3)} ms"
    if microseconds < 120e6:
        return f"{_short(microseconds / 1e6)} s"
    return f"{microseconds / 60e6:,.0f} min"


def percent(share: float) -> str:
    """`12 %`, and `< 1 %` for what is there but small."""
    return "< 1 %" if 0 < share < 0.01 else f"{share:.0%}".replace("%", " %")


def rate(value: float | None) -> str:
    """How often a step: `1`, `0.02`, `12`; a dash where no steps were counted."""
    if value is None:
        return UNKNOWN
    return f"{value:,.0f}" if value >= 99.5 else f"{float(f'{value:.2g}'):g}"


def device(name: str) -> str:
    """The device as a sentence has it: `the CPU`, `cuda:0`."""
    return "the CPU" if name == "cpu" else printable(name)


def devices(names: Sequence[str]) -> str:
    """`cuda:0`, `cuda:0, cuda:1`, `8 devices`."""
    if len(names) <= 2:
        return ", ".join(map(printable, names)) or UNKNOWN
    return f"{len(names)} devices"


def short_path(file: str) -> str:
    """The path from the current folder, where the file lies below it."""
    here = Path(os.path.abspath(file))
    folder = Path.cwd()
    return printable(str(here.relative_to(folder)) if here.is_relative_to(folder) else file)


def printable(text: str) -> str:
    """The text on one line, without characters that would move a cursor or change a colour."""
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode("ascii")
        for each in text
    )


def _short(value: float) -> str:
    return f"{value:.1f}" if value < 9.95 else f"{value:,.0f}"

"""Standard output and error: whether they take colour, how wide they are, what they can encode."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TextIO

from devicelint.output.paint import Paint, coloured, plain


def prepare() -> None:
    """Make both streams show what they cannot encode instead of failing, closed or not."""
    # Python has no stream for a descriptor that is closed.
    sys.stdout = sys.stdout or io.TextIOWrapper(io.FileIO(os.devnull, "w"), "utf-8")
    sys.stderr = sys.stderr or io.TextIOWrapper(io.FileIO(os.devnull, "w"), "utf-8")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


_chosen_paint: list[Paint] = []
"""What `--color` asks for, if it asks for anything."""


def choose_colour(when: str) -> None:
    """Paint always, never, or where `paint_for` finds it right."""
    _chosen_paint[:] = {"always": [coloured], "never": [plain]}.get(when, [])


def paint_for(stream: TextIO, environment: Mapping[str, str] = os.environ) -> Paint:
    """Return colour for a terminal; --color, NO_COLOR and FORCE_COLOR overrule, in this order."""
    if _chosen_paint:
        return _chosen_paint[0]
    if environment.get("NO_COLOR"):
        return plain
    if environment.get("FORCE_COLOR", "0") not in ("", "0"):
        return coloured
    if environment.get("TERM") == "dumb":
        return plain
    return coloured if stream.isatty() else plain


def width_of(stream: TextIO, default: int) -> int:
    """Return how many cells a line of the stream has."""
    if not stream.isatty():
        return default
    import shutil

    return shutil.get_terminal_size((default, 24)).columns


_passing: list[Callable[[], None]] = []


def make_room() -> None:
    """Let what is shown for the moment make room for what stays."""
    for hide in _passing:
        hide()


@contextmanager
def passing(hide: Callable[[], None]) -> Iterator[None]:
    """Show something for the moment, that `hide` takes away, and does so at the end."""
    _passing.append(hide)
    try:
        yield
    finally:
        hide()
        _passing.remove(hide)


def write_bytes(data: bytes) -> None:
    """Write to standard output exactly these bytes, whatever its encoding and line ends."""
    make_room()
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


_collected: ContextVar[list[str] | None] = ContextVar("collected", default=None)


@contextmanager
def collecting() -> Iterator[list[str]]:
    """Collect the lines that `say` would write, for a caller that is not a terminal."""
    lines: list[str] = []
    token = _collected.set(lines)
    try:
        yield lines
    finally:
        _collected.reset(token)


def say(line: str) -> None:
    """Write a line for the person who runs this: a problem, or the summary."""
    lines = _collected.get()
    if lines is not None:
        lines.append(line)
        return
    make_room()
    sys.stdout.flush()
    print(line, file=sys.stderr)


def forget_output() -> None:
    """Let the interpreter close a standard output that nobody reads, without a word."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())

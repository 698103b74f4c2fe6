"""Writes a file whole, or leaves it as it was."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

STREAMS = (Path("/dev"), Path("/dev/fd"), Path("/proc/self/fd"))
"""Folders of names for what is open already, such as standard output."""


def is_stream(path: Path) -> bool:
    """Tell whether a name stands for a pipe, a terminal or another device: it keeps its name."""
    return path.parent in STREAMS or (path.exists() and not path.is_file())


def write_whole(path: Path, text: str) -> None:
    """Write a file that is either as it was or complete, never in between.

    Raises:
        OSError: it cannot be written.
    """
    # The name of a file, and what a message quotes, need not be Unicode.
    content = text.encode("utf-8", errors="backslashreplace")
    if is_stream(path):
        with path.open("ab") as stream:
            stream.write(content)
        return
    # Where the name is a link, what it leads to is replaced.
    path = path.resolve()
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_bytes(content)
        draft.replace(path)
    finally:
        with suppress(OSError):
            draft.unlink()

"""Writes a file whole, or leaves it as it was."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

STREAMS = (Path("/dev"), Path("/dev/fd"), Path("/proc/self/fd"))
"""Folders of names for what is open already, such as standard output."""


def is_stream(path: Path) -> bool:
    """Return whether a name stands for a pipe, a terminal or another device: it keeps its name."""
    return path.parent in STREAMS or (path.exists() and not path.is_file())


def writable(option: str, name: str) -> Path:
    """The path of a file to be written later, whole: the current folder may be another one then.

    Raises:
        ValueError: it cannot be written, or should not be; the message names the option.
    """
    path = Path.cwd() / name
    if not name:
        raise ValueError(f"{option} is empty: expected the name of a file")
    if path.is_dir():
        raise ValueError(f"{option} is {name!r}: it is a folder")
    if not path.parent.is_dir():
        raise ValueError(f"{option} is {name!r}: there is no folder {str(path.parent)!r}")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ValueError(f"{option} is {name!r}: it cannot be written")
    if path.is_file() and path.suffix == ".py":
        raise ValueError(f"{option} is {name!r}: it would overwrite a program")
    return path


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

"""Files that devicelint makes, such as reports: whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from devicelint.finding import InputError
from devicelint.workspace.files import replace_file


def write_file(path: Path, data: bytes) -> None:
    """Give a file this content; raises InputError, and changes nothing then.

    What is no file, such as a pipe, is written to, and so is what a name of a stream leads to.
    """
    try:
        if path.is_file() and not _is_stream(path):
            replace_file(path, data)
        elif path.exists():
            path.write_bytes(data)
        else:
            _make(path, data)
    except FileNotFoundError:
        raise InputError(str(path), 1, 0, f"there is no folder {path.parent}") from None
    except OSError as error:
        why = error.strerror or error
        raise InputError(str(path), 1, 0, f"cannot be written: {why}") from None


def _is_stream(path: Path) -> bool:
    """As /dev/fd/3, which may be a file that somebody else goes on writing to."""
    return path.absolute().as_posix().startswith(("/dev/", "/proc/"))


def _make(path: Path, data: bytes) -> None:
    beside = path.with_name(f".devicelint-{os.getpid()}-{path.name}"[:255])
    try:
        with beside.open("xb") as new:  # Not by tempfile, whose files nobody else may read.
            new.write(data)
            new.flush()
            os.fsync(new.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise

"""What stands in the other files of a project, and whether that has changed."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

_READING = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
"""A pipe is not waited for."""


def content_of(path: str) -> bytes | None:
    """What is in a file; None where it cannot be read, or is no file of the disk."""
    try:
        descriptor = os.open(path, _READING)
    except (OSError, ValueError):
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return None
        return _read(descriptor, status.st_size)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _read(descriptor: int, size: int) -> bytes:
    """The whole file: a single call reads most of them."""
    data = os.read(descriptor, size + 1)
    if len(data) == size:
        return data
    parts = [data]
    while parts[-1]:
        parts.append(os.read(descriptor, max(size, 2**16)))
    return b"".join(parts)


@dataclass(frozen=True)
class Version:
    """What distinguishes one state of a file on the disk from the next."""

    modified: int
    size: int

    @classmethod
    def of_file(cls, home: str) -> Version | None:
        """The state that a file is in; None where there is none."""
        try:
            status = Path(home).stat()
        except OSError:
            return None
        return cls(status.st_mtime_ns, status.st_size)

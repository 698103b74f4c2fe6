"""What stands in the other files of a project, which nobody has asked to check."""

from __future__ import annotations

import stat
from pathlib import Path


def content_of(path: str) -> bytes | None:
    """What is in a file; None where it cannot be read, or is a pipe, which is not waited for."""
    file = Path(path)
    try:
        return file.read_bytes() if stat.S_ISREG(file.stat().st_mode) else None
    except OSError:
        return None

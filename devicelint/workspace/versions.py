"""Whether a file on the disk has changed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


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

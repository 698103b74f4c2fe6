"""`--output-file`: what is printed, in a file that holds all of it or what it held before."""

from __future__ import annotations

import io
import os
from pathlib import Path

from devicelint.finding import InputError
from devicelint.made_files import write_file

_PROGRAMS = frozenset({".py", ".pyw", ".ipynb"})


def complaint_about(name: str) -> str | None:
    """What to say of a name that cannot be meant; None for one that can."""
    if not name:
        return "--output-file needs the name of a file"
    if Path(name).suffix.lower() in _PROGRAMS:
        return f"--output-file {name} would replace a program by a report"
    return None


class ReportFile(io.TextIOWrapper):
    """A text to write, which comes into its file at the end alone."""

    def __init__(self, name: str) -> None:
        """Look whether the file can be written, before anything is done; raises InputError."""
        self._path = Path(name)
        self._bytes = io.BytesIO()
        super().__init__(self._bytes, "utf-8", "backslashreplace", newline="\n", write_through=True)
        if self._path.is_dir():
            raise InputError(name, 1, 0, "is a directory")
        if self._path.exists() and not os.access(self._path, os.W_OK):
            raise InputError(name, 1, 0, "is read-only")

    def commit(self) -> None:
        """Write the file; raises InputError."""
        self.flush()
        write_file(self._path, self._bytes.getvalue())

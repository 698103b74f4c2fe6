"""Reports in files, each of which holds all of its report or what it held before."""

from __future__ import annotations

import io
import os
from argparse import Namespace
from pathlib import Path

from devicelint.cli.options.usage import UsageError
from devicelint.workspace.atomic_write import write_file

_PROGRAMS = frozenset({".py", ".pyw", ".ipynb"})


def refuse_contradictions(options: Namespace) -> None:
    """Say before anything is done which names cannot be meant; raises UsageError."""
    named = [("--report", file) for _, file in options.report]
    if options.output_file is not None:
        named.insert(0, ("--output-file", options.output_file))
    if options.report and options.diff:
        raise UsageError("--report tells what is found: give it without --diff")
    for option, file in named:
        if not file:
            raise UsageError(f"{option} needs the name of a file")
        refuse_programs(option, file, "a report")
        refuse_unwritable(option, file)
    files = [os.path.abspath(file) for _, file in named]
    for (option, name), file in zip(named, files, strict=True):
        if files.count(file) > 1:
            raise UsageError(f"{option} {name}: one file cannot hold two reports")


def refuse_programs(option: str, file: str, made: str) -> None:
    """What is made must not take the place of a program; raises UsageError."""
    if Path(file).suffix.lower() in _PROGRAMS:
        raise UsageError(f"{option} {file} would replace a program by {made}")


def refuse_unwritable(option: str, file: str) -> None:
    """What is made must have a folder, and a place there; raises UsageError."""
    path = Path(file)
    if path.is_dir():
        raise UsageError(f"{option} {file}: is a folder")
    if path.exists() and not os.access(path, os.W_OK):
        raise UsageError(f"{option} {file}: is read-only")
    if not path.parent.is_dir():
        raise UsageError(f"{option} {file}: there is no folder {path.parent}")


class ReportFile(io.TextIOWrapper):
    """A text to write, which comes into its file at the end alone."""

    def __init__(self, name: str) -> None:
        """Begin with nothing; `refuse_unwritable` looks whether the file can be written."""
        self._path = Path(name)
        self._bytes = io.BytesIO()
        super().__init__(self._bytes, "utf-8", "backslashreplace", newline="\n", write_through=True)

    def commit(self) -> None:
        """Write the file; raises InputError."""
        self.flush()
        write_file(self._path, self._bytes.getvalue())

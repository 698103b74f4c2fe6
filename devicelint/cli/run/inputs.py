"""The files of a run: those that the paths name or hold, or what standard input says."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from devicelint.cli import terminal
from devicelint.cli.options.parser import COMMANDS
from devicelint.cli.run.search import python_files
from devicelint.finding import InputError
from devicelint.output.visible import printable
from devicelint.text.source import SourceFile
from devicelint.workspace.files import read_data, replace_file

if TYPE_CHECKING:
    from devicelint.cli.run.settings import RunSettings
    from devicelint.cli.run.tally import Tally

STDIN = "-"


@dataclass(frozen=True)
class FileInput:
    """A file on the disk."""

    place: Path

    @property
    def path(self) -> str:
        """What the file is called in reports."""
        return str(self.place)

    @property
    def home(self) -> str:
        """What the file is called where it is looked up."""
        return os.path.abspath(self.place)

    def source(self) -> SourceFile:
        """Return what is to be checked, having reported what is not; raises InputError."""
        return self.source_of(self.data())

    def data(self) -> bytes:
        """Return the bytes of the file; raises InputError."""
        return read_data(self.place)

    def source_of(self, data: bytes) -> SourceFile:
        """Return what is to be checked of these bytes, having reported what is not."""
        return _with_notes(SourceFile.from_bytes(data, self.path))

    def replace(self, data: bytes) -> None:
        """Write the file anew; raises InputError."""
        replace_file(self.place, data)


@dataclass(eq=False)
class StandardInput:
    """A file that an editor or a pipe hands over; its name decides which configuration holds."""

    path: str

    @property
    def place(self) -> Path:
        """Where the file would be."""
        return Path(self.path)

    @cached_property
    def data(self) -> bytes:
        """The bytes as they came."""
        return sys.stdin.buffer.read()

    def source(self) -> SourceFile:
        """Return what is to be checked, having reported what is not; raises InputError."""
        return _with_notes(SourceFile.from_bytes(self.data, self.path))


@dataclass(eq=False)
class GivenText(StandardInput):
    """The same of a program that hands the text over itself, not through standard input."""

    text: str

    def source(self) -> SourceFile:
        """Return what is to be checked, having reported what is not; raises InputError."""
        return _with_notes(SourceFile.from_text(self.text, self.path))


@dataclass(frozen=True)
class Unreadable:
    """What a path leads to that cannot even be looked for files; reported when its turn comes."""

    error: InputError

    @property
    def path(self) -> str:
        """What it is called in reports."""
        return self.error.path

    @property
    def place(self) -> Path:
        """Where it would be."""
        return Path(self.path)

    def source(self) -> SourceFile:
        """Raise what there is to report."""
        raise self.error


def _with_notes(source: SourceFile) -> SourceFile:
    for note in source.notes:
        terminal.say(printable(f"{note}"))
    return source


Input = FileInput | StandardInput | Unreadable


def named(path: str, stdin_filename: str | None) -> Input:
    """Return the one input that a path means."""
    return StandardInput(stdin_filename or STDIN) if path == STDIN else FileInput(Path(path))


def inputs(
    paths: Sequence[str], stdin_filename: str | None, settings: RunSettings, tally: Tally
) -> Iterator[Input]:
    """Yield each file once, and what cannot be searched, each in its turn."""
    if list(paths) == [STDIN]:
        yield named(STDIN, stdin_filename)
        return
    configured = [
        (config, path)
        for path in map(Path, paths or ["."])
        if (config := tally.attempt(str(path), partial(settings.config_for, path)))
    ]
    for config, group in groupby(configured, key=lambda pair: pair[0]):
        named_paths = [path for _, path in group]
        for found in python_files(
            named_paths, config, settings.config_for, force_exclude=settings.force_exclude
        ):
            if isinstance(found, InputError):
                message = f"{found.message}{_command_hint(found.path)}"
                yield Unreadable(InputError(found.path, found.line, found.column, message))
            else:
                yield FileInput(found)


def _command_hint(path: str) -> str:
    """Answer a misspelt command, which looks like a path that does not exist."""
    if Path(path).exists() or Path(path).suffix or Path(path).name != path:
        return ""
    if path in COMMANDS:
        return f'; the command "{path}" goes before all options'
    from difflib import get_close_matches

    close = get_close_matches(path, COMMANDS, n=1, cutoff=0.7)
    return f'; did you mean the command "{close[0]}"?' if close else ""

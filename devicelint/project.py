"""Which file an import of the project means, and the files that were read so far.

An import is looked up as Python would at run time: beside the script (`sys.path[0]`), at the
folder that holds the package, and upwards to the root of the project, where people start scripts
from, with its `src`.  What is installed is never looked at.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from devicelint.interpreter import Program
from devicelint.source import SourceError, SourceFile
from devicelint.syntax import CheckError, parse

__all__ = ["Project"]

_PACKAGE = "__init__.py"
_MARKS_A_ROOT = frozenset({".git", ".hg", "pyproject.toml", "setup.py", "setup.cfg"})
_FOLDERS_UPWARDS = 6
_MOST_LINES_OF_A_FILE = 20_000
_MOST_LINES_KEPT = 60_000
"""A line takes some two kibibytes."""


@dataclass(frozen=True)
class _Version:
    """What tells one state of a file on the disk from the next."""

    modified: int
    size: int


class Project:
    """The files that imports lead to, each read and parsed once while it does not change."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._entries: dict[str, frozenset[str]] = {}
        self._programs: OrderedDict[str, tuple[_Version, Program]] = OrderedDict()
        self._lines = 0

    def find(self, importer: str, module: str, level: int) -> str | None:
        """The home of a module that the file `importer` imports; `level` counts the dots."""
        parts = module.split(".") if module else []
        if level:
            folder = os.path.dirname(os.path.abspath(importer))
            for _ in range(level - 1):
                folder = os.path.dirname(folder)
            return self._walked_down(folder, parts)
        for folder in self._search_path(importer):
            if self._home(folder, parts[0]) is not None:
                return self._walked_down(folder, parts)
        return None

    def inside(self, home: str, name: str) -> str | None:
        """The home of a submodule of a package."""
        if os.path.basename(home) == _PACKAGE:
            return self._home(os.path.dirname(home), name)
        return None if home.endswith(".py") else self._home(home, name)

    def program(self, home: str) -> Program | None:
        """The file, parsed; None for a folder, and for what cannot be read or is no Python."""
        if not home.endswith(".py"):
            return None
        try:
            status = os.stat(home)
        except OSError:
            return None
        version = _Version(status.st_mtime_ns, status.st_size)
        known = self._programs.get(home)
        if known is not None and known[0] == version:
            self._programs.move_to_end(home)
            return known[1]
        program = self._read(home)
        if program is not None:
            self._keep(home, version, program)
        return program

    def tree(self, source: SourceFile) -> cst.Module:
        """The tree of a file that is to be checked; the files that import it share it.

        Raises `CheckError` where the file is no Python that libcst can read.
        """
        home = os.path.abspath(source.path)
        is_new = home not in self._programs
        program = self.program(home) if home.endswith(".py") else None
        if is_new and home in self._programs:
            # Most files are imported by none: those that some file imports are kept longer.
            self._programs.move_to_end(home, last=False)
        if program is not None and program.text == source.text:
            return program.tree
        return parse(source)

    def files(self) -> Iterator[Program]:
        """The files that are at hand, beginning with the one that was asked for last."""
        return (program for _, program in reversed(self._programs.values()))

    def _read(self, home: str) -> Program | None:
        try:
            with open(home, "rb") as file:
                source = SourceFile.from_bytes(file.read(), home)
            if source.text.count("\n") > _MOST_LINES_OF_A_FILE:
                return None
            return Program(parse(source), source.text, home, self, home)
        except (OSError, SourceError, CheckError):
            return None

    def _keep(self, home: str, version: _Version, program: Program) -> None:
        """Keep the files that were asked for last, so that memory stays flat on large trees."""
        replaced = self._programs.pop(home, None)
        self._lines += program.lines - (replaced[1].lines if replaced is not None else 0)
        self._programs[home] = (version, program)
        while self._lines > _MOST_LINES_KEPT and len(self._programs) > 1:
            _, (_, oldest) = self._programs.popitem(last=False)
            self._lines -= oldest.lines

    def _search_path(self, importer: str) -> Iterator[str]:
        """Where an absolute import of a file is looked up, in order."""
        folder = os.path.dirname(os.path.abspath(importer))
        for _ in range(_FOLDERS_UPWARDS):
            yield folder
            entries = self._listing(folder)
            if "src" in entries:
                yield os.path.join(folder, "src")
            above = os.path.dirname(folder)
            if entries & _MARKS_A_ROOT or above == folder:
                return
            folder = above

    def _walked_down(self, folder: str, parts: list[str]) -> str | None:
        """The home of `a.b.c`, from the folder in which `a` lies; of the folder itself for none."""
        if not parts:
            package = os.path.join(folder, _PACKAGE)
            return package if _PACKAGE in self._listing(folder) else folder
        home = self._home(folder, parts[0])
        for part in parts[1:]:
            home = None if home is None else self.inside(home, part)
        return home

    def _home(self, folder: str, name: str) -> str | None:
        """What `import name` means where `folder` is searched: a package before a file."""
        entries = self._listing(folder)
        package = os.path.join(folder, name)
        inside = self._listing(package) if name in entries else frozenset()
        if _PACKAGE in inside:
            return os.path.join(package, _PACKAGE)
        if f"{name}.py" in entries:
            return os.path.join(folder, f"{name}.py")
        return package if any(one.endswith(".py") for one in inside) else None

    def _listing(self, folder: str) -> frozenset[str]:
        entries = self._entries.get(folder)
        if entries is None:
            try:
                entries = frozenset(os.listdir(folder))
            except OSError:
                entries = frozenset()
            self._entries[folder] = entries
        return entries

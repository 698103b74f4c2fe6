"""Which file an import of the project means, and the files that were read so far.

An import is looked up as Python would at run time: beside the script (`sys.path[0]`), at the
folder that holds the package, and upwards to the root of the project, where people start scripts
from, with its `src`.  What is installed is never looked at.

A text that is not written yet is held in place of that on the disk, so that fixes of several files
are checked together before any of them is written.
"""

from __future__ import annotations

import os
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator, KeysView
from contextlib import contextmanager
from dataclasses import dataclass, replace

import libcst as cst

from devicelint.interpreter import Program
from devicelint.reparsing import Parsed
from devicelint.source import SourceError, SourceFile
from devicelint.syntax import CheckError, parse

__all__ = ["Project", "home_of"]

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


def home_of(source: SourceFile) -> str:
    """What the project calls a file."""
    return os.path.abspath(source.path)


def _from_disk(home: str) -> SourceFile:
    with open(home, "rb") as file:
        return SourceFile.from_bytes(file.read(), home)


class Project:
    """The files that imports lead to, each read and parsed once while it does not change."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._entries: dict[str, frozenset[str]] = {}
        self._programs: OrderedDict[str, tuple[_Version | str, Program]] = OrderedDict()
        self._lines = 0
        self._held: dict[str, SourceFile] = {}
        self._parsed_before: dict[str, Parsed] = {}
        """The texts that are held, as they were parsed last."""
        self._imports: dict[str, set[str]] = {}
        """What each file has been seen to import, by their homes."""
        self.editable: frozenset[str] = frozenset()
        """The homes of the files that a fix of another file may change, too."""

    def hold(self, source: SourceFile) -> None:
        """Give the files that import it a text that is not written yet."""
        home = home_of(source)
        before = self._held.get(home)
        self._held[home] = source
        if before is None or before.text != source.text:
            self._outdate(home)

    def release(self, path: str) -> None:
        """Go by what is on the disk again."""
        home = os.path.abspath(path)
        if self._held.pop(home, None) is not None:
            self._parsed_before.pop(home, None)
            self._outdate(home)

    def held(self, path: str) -> SourceFile | None:
        """The text that a file is to get, where it waits to be written."""
        return self._held.get(os.path.abspath(path))

    @contextmanager
    def editing(self, sources: Iterable[SourceFile]) -> Iterator[None]:
        """Let fixes change these files, and imports see what is held of them, for a while."""
        before, self.editable = self.editable, frozenset(map(home_of, sources))
        held = dict(self._held)
        try:
            yield
        finally:
            self.editable = before
            for home in self._held.keys() | held.keys():
                if home in held:
                    self.hold(held[home])
                else:
                    self.release(home)

    def reached_from(self, source: SourceFile) -> KeysView[str]:
        """The homes of the files that a file imports, or that these import, as far as was seen.

        They come in the order of their distance.
        """
        found: dict[str, None] = {}
        waiting = deque([home_of(source)])
        while waiting:
            new = sorted(self._imports.get(waiting.popleft(), set()) - found.keys())
            found |= dict.fromkeys(new)
            waiting += new
        return found.keys()

    def find(self, importer: str, module: str, level: int) -> str | None:
        """The home of a module that the file `importer` imports; `level` counts the dots."""
        home = self._found(importer, module, level)
        if home is not None:
            self._imports.setdefault(os.path.abspath(importer), set()).add(home)
        return home

    def _found(self, importer: str, module: str, level: int) -> str | None:
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
        folder = os.path.dirname(home) if os.path.basename(home) == _PACKAGE else home
        found = None if folder.endswith(".py") else self._home(folder, name)
        if found is not None:
            self._imports.setdefault(home, set()).add(found)
        return found

    def program(self, home: str) -> Program | None:
        """The file, parsed; None for a folder, and for what cannot be read or is no Python."""
        if not home.endswith(".py"):
            return None
        version = self._version(home)
        if version is None:
            return None
        known = self._programs.get(home)
        if known is not None and known[0] == version:
            self._programs.move_to_end(home)
            return known[1]
        if known is not None:
            self._outdate(home)
        program = self._read(home)
        if program is not None:
            self._keep(home, version, program)
        return program

    def _version(self, home: str) -> _Version | str | None:
        """What tells the text of a file from what it was before; None where there is no file."""
        if home in self._held:
            return self._held[home].text
        try:
            status = os.stat(home)
        except OSError:
            return None
        return _Version(status.st_mtime_ns, status.st_size)

    def _outdate(self, home: str) -> None:
        """Forget what the files hold that import one which has changed, directly or not."""
        outdated, waiting = {home}, [home]
        while waiting:
            imported = waiting.pop()
            new = {one for one, homes in self._imports.items() if imported in homes} - outdated
            outdated |= new
            waiting += new
        for one in outdated & self._programs.keys():
            version, program = self._programs[one]
            self._programs[one] = version, replace(program, walked={})

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
            source = self._held.get(home) or _from_disk(home)
            if source.text.count("\n") > _MOST_LINES_OF_A_FILE:
                return None
            return Program(self._parsed(home, source), source.text, home, self, home)
        except (OSError, SourceError, CheckError):
            return None

    def _parsed(self, home: str, source: SourceFile) -> cst.Module:
        """The tree of a file; that of a text which somebody changes comes from the one before."""
        if home not in self._held:
            return parse(source)
        before = self._parsed_before.get(home)
        now = Parsed.of(source) if before is None else before.changed(source)
        self._parsed_before[home] = now
        return now.tree

    def _keep(self, home: str, version: _Version | str, program: Program) -> None:
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

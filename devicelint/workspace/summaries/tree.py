"""All that the answers to questions about a project can depend on, as one digest.

While that is the same, every answer is, and nobody has to ask again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from devicelint.text.hashing import digest

_MOST_NAMES = 30_000
_MOST_FILES = 5_000
_READ = (".py", ".ipynb", ".md", ".rst", ".txt", ".sh", ".yaml", ".yml", ".toml", ".json")
"""How files end whose content counts; of all others, only marks of a project do."""
_LARGEST = 2**20
"""In bytes; of a larger page, nothing is read."""
_PROGRAMS = (".py", ".ipynb")
_MARKS = frozenset({".git", ".hg", "setup.cfg"})
_OTHERS = frozenset({"__pycache__", "node_modules", "site-packages"})
"""Folders in which nothing of a project lies."""


class _TooMuchError(Exception):
    """A tree has too many files, or goes round in circles."""


@dataclass(frozen=True)
class ProjectTree:
    """The files and folders of a project, as they were read."""

    root: str
    state: str
    """The digest of all names and contents; empty where there is too much."""
    files: frozenset[str] = frozenset()
    folders: frozenset[str] = field(default=frozenset(), repr=False)
    names: str = ""
    """The digest of all names."""

    @classmethod
    def of(cls, root: str, content: Callable[[str], str]) -> ProjectTree:
        """Read a tree; `content` is the digest of a file."""
        try:
            folders = list(_folders(root))
        except (_TooMuchError, OSError):
            return cls(root, "")
        names = _names_of(folders)
        read = [path for _, _, files in folders for path in files]
        if len(read) > _MOST_FILES:
            return cls(root, "")
        contents = "\n".join(map(content, read))
        state = digest(f"{names}\n{contents}".encode())
        return cls(root, state, frozenset(read), frozenset(path for path, *_ in folders), names)

    def has_the_same_names(self) -> bool:
        """Whether no file or folder has come or gone since."""
        try:
            return _names_of(list(_folders(self.root))) == self.names
        except (_TooMuchError, OSError):
            return False

    def holds(self, path: str) -> bool:
        """Whether a file or a folder is a part of it."""
        return path in self.files or path in self.folders


_Folder = tuple[str, list[str], list[str]]
"""A folder, the names in it that count, and the paths of the files to read."""


def _folders(root: str) -> Iterator[_Folder]:
    left = _MOST_NAMES
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        names, read = [], []
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda one: one.name):
                left -= 1
                name = entry.name
                if name in _MARKS:
                    names.append(name)
                elif entry.is_dir():
                    if not (name.startswith(".") or name in _OTHERS):
                        names.append(f"{name}/")
                        _refuse_circle(entry)
                        waiting.append(entry.path)
                elif name.endswith(_READ):
                    names.append(name)
                    if name.endswith(_PROGRAMS) or entry.stat().st_size <= _LARGEST:
                        read.append(entry.path)
        if left < 0:
            raise _TooMuchError
        yield folder, names, read


def _refuse_circle(entry: os.DirEntry[str]) -> None:
    if entry.is_symlink() and f"{entry.path}/".startswith(f"{os.path.realpath(entry.path)}/"):
        raise _TooMuchError


def _names_of(folders: list[_Folder]) -> str:
    lines = ("\0".join((path, *names)) for path, names, _ in folders)
    return digest("\n".join(lines).encode("utf-8", "surrogatepass"))

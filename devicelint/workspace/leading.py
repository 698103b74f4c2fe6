"""The programs and tests that lead to a file: they import it, themselves or through others.

Files are found by their mention of a module's name, so that a file of a large project costs no look
into all others, and each that mentions it is looked into once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import PurePath
from typing import NamedTuple

from devicelint.domain.collected import is_collected
from devicelint.workspace.beginnings import starts
from devicelint.workspace.contents import content_of
from devicelint.workspace.folder_use import Find
from devicelint.workspace.imported_modules import imports_among
from devicelint.workspace.syntax import nodes_of, parsed

_PACKAGE = "__init__.py"
_MOST_LOOKED_INTO = 60
"""How many files that mention one are looked into."""


class _File(NamedTuple):
    """What a file imports, and whether its statements do something."""

    imports: frozenset[str] = frozenset()
    starts: bool = False


@dataclass(frozen=True)
class Leading:
    """Looks for those that lead to the files of projects."""

    find: Find
    mentioning: Callable[[str, str], Iterator[str]]
    """The files around one that mention a name."""
    _files: dict[str, _File] = field(default_factory=dict)
    _importing: dict[str, list[str]] = field(default_factory=dict)
    _found: dict[str, list[str]] = field(default_factory=dict)

    def to(self, home: str) -> list[str]:
        """Those that import a file: first who does so itself, and programs before tests."""
        if home not in self._found:
            ways = self._importers(home)
            runs = sorted(filter(self.runs, ways), key=lambda one: (ways[one], is_collected(one)))
            self._found[home] = runs
        return self._found[home]

    def runs(self, home: str) -> bool:
        """Whether a file is a program, or holds tests."""
        return is_collected(home) or self._file(home).starts

    def _importers(self, home: str) -> dict[str, int]:
        """The files that import one, and how many imports lead there from each."""
        ways, waiting = {home: 0}, [home]
        for imported in waiting:
            new = [one for one in self._direct(imported) if one not in ways]
            ways |= dict.fromkeys(new, ways[imported] + 1)
            waiting += new
        del ways[home]
        return ways

    def _direct(self, home: str) -> list[str]:
        """The files that import one themselves, of those that mention it first."""
        if home not in self._importing:
            others = islice(self.mentioning(home, module_of(home)), _MOST_LOOKED_INTO)
            self._importing[home] = [
                one for one in others if one != home and self._imports(one, home)
            ]
        return self._importing[home]

    def _imports(self, importer: str, home: str) -> bool:
        """Whether a file imports another one, which may be the package of what it imports."""
        found = self._file(importer).imports
        is_package = PurePath(home).name == _PACKAGE
        return home in found or (is_package and any(_is_package_of(home, one) for one in found))

    def _file(self, home: str) -> _File:
        if home not in self._files:
            tree = parsed(content_of(home) or b"")
            self._files[home] = _File()
            if tree is not None:
                named = set(imports_among(nodes_of(tree)))
                found = (self.find(home, *one) for one in named if any(one))
                imports = frozenset(one for one in found if one is not None)
                self._files[home] = _File(imports, any(map(starts, tree.body)))
        return self._files[home]


def module_of(home: str) -> str:
    """The last part of a module's name, as imports have it; that of a package is its folder's."""
    path = PurePath(home)
    return path.parent.name if path.name == _PACKAGE else path.stem


def _is_package_of(package: str, home: str) -> bool:
    return PurePath(package).parent in PurePath(home).parents

"""The programs and tests that lead to a file: they import it, themselves or through others.

Files are found by their mention of a module's name, so that a file of a large project costs no look
into all others, and each that mentions it is looked into once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from devicelint.domain.collected import is_collected
from devicelint.workspace.folder_use import Find
from devicelint.workspace.summaries import Files

_PACKAGE = "__init__.py"
_MOST_LOOKED_INTO = 60
"""How many files that mention one are looked into."""


@dataclass(frozen=True)
class Leading:
    """Looks for those that lead to the files of projects."""

    find: Find
    mentioning: Callable[[str, str], Iterator[str]]
    """The files around one that mention a name."""
    files: Files
    _imported: dict[str, frozenset[str]] = field(default_factory=dict)
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
        return is_collected(home) or self.files.leads(home).starts

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
        found = self._imports_of(importer)
        is_package = home.rpartition(os.sep)[2] == _PACKAGE
        return home in found or (is_package and any(_is_package_of(home, one) for one in found))

    def _imports_of(self, home: str) -> frozenset[str]:
        """The homes of what a file imports."""
        if home not in self._imported:
            named = (one for one in self.files.leads(home).imports if any(one))
            found = (self.find(home, *one) for one in named)
            self._imported[home] = frozenset(one for one in found if one is not None)
        return self._imported[home]


def module_of(home: str) -> str:
    """The last part of a module's name, as imports have it; that of a package is its folder's."""
    folder, _, name = home.rpartition(os.sep)
    return folder.rpartition(os.sep)[2] if name == _PACKAGE else name.rpartition(".")[0] or name


def _is_package_of(package: str, home: str) -> bool:
    return home.startswith(package.removesuffix(_PACKAGE))

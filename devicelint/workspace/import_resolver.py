"""Resolves imports: which file one means, and what was asked for to know it.

An import is resolved as Python would do it at run time: beside the script (`sys.path[0]`), at the
folder that holds the package, and upwards to the root of the project, where people start scripts
from, with its `src`.  What is installed is never looked at.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

from devicelint.workspace.questions import (
    ABOUT,
    APART,
    DEMANDED,
    INSIDE,
    PLACED,
    STARTS,
    Question,
    asking,
)
from devicelint.workspace.roots import folders_around, is_root, listed
from devicelint.workspace.summaries import Files, Summaries

if TYPE_CHECKING:
    from devicelint.workspace.demands import DemandingFunctions
    from devicelint.workspace.function_users import Users
    from devicelint.workspace.named_files import NamedFiles
    from devicelint.workspace.outsiders import Outsiders
    from devicelint.workspace.project_use import ProjectUse

__all__ = ["ABOUT", "DEMANDED", "INSIDE", "ImportResolver", "Question"]

_PACKAGE = "__init__.py"


def folder_of(path: str) -> str:
    """The folder in which a file lies, as an absolute path; it is asked for with each import."""
    return _folder_of(path) if os.path.isabs(path) else os.path.dirname(os.path.abspath(path))


@functools.lru_cache(maxsize=4_000)
def _folder_of(path: str) -> str:
    return os.path.dirname(os.path.abspath(path))


class ImportResolver:
    """Resolves imports among the files of the disk, and reads each folder once.

    A home is what a file is called: its absolute path; or a folder, for a package without a file.
    """

    def __init__(self, summaries: Summaries | None = None) -> None:
        """Know nothing yet, but for what texts tell that were read before."""
        self._files = Files(summaries)
        self._entries: dict[str, frozenset[str]] = {}
        self._search_paths: dict[str, tuple[str, ...]] = {}
        self._found: dict[tuple[str, Question], str | None] = {}
        """What imports lead to, by folder: its files find the same."""

    # What only questions about a whole project need is imported when one is asked.

    @cached_property
    def _named(self) -> NamedFiles:
        from devicelint.workspace.named_files import NamedFiles
        from devicelint.workspace.outsiders import is_passed_over

        return NamedFiles(is_passed_over, files=self._files)

    @cached_property
    def outsiders(self) -> Outsiders:
        """Those who may call what a project defines besides its modules."""
        from devicelint.workspace.outsiders import Outsiders

        return Outsiders(self._named, self._listing, self._files)

    @cached_property
    def _users(self) -> Users:
        from devicelint.workspace.function_users import Users

        return Users(self._named, self.outsiders, self._files)

    @cached_property
    def _uses(self) -> ProjectUse:
        from devicelint.workspace.project_use import ProjectUse

        find = partial(ImportResolver.find, self)
        return ProjectUse(find, self._files_naming, self._listing, self._files)

    def _files_naming(self, root: str, name: str) -> Sequence[str] | None:
        return self._named.files(root, name)

    @cached_property
    def _demands(self) -> DemandingFunctions:
        from devicelint.workspace.demands import DemandingFunctions

        return DemandingFunctions(partial(ImportResolver.find, self))

    def _forget_uses(self) -> None:
        """Know nothing of what programs do with the machine."""
        vars(self).pop("_uses", None)
        vars(self).pop("_demands", None)

    def answer(self, home: str, question: Question) -> str | None:
        """What a question that was asked in a file leads to."""
        if question.level == INSIDE:
            return self.inside(home, question.module)
        if question.level == ABOUT:
            return self.about(home, question.module)
        if question.level == DEMANDED:
            return self.demanded_by(home, question.module)
        if question.level == PLACED:
            return self.placed(home)
        if question.level < PLACED:
            return self.by_name(home, question)
        return self.find(home, question.module, question.level)

    def find(self, importer: str, module: str, level: int) -> str | None:
        """The home of a module that the file `importer` imports; `level` counts the dots."""
        key = folder_of(importer), asking(module, level)
        if key not in self._found:
            self._found[key] = self._looked_for(importer, module, level)
        return self._found[key]

    def _forget_folders(self) -> None:
        """Notice which files have come and gone."""
        self._entries.clear()
        self._found.clear()

    def _looked_for(self, importer: str, module: str, level: int) -> str | None:
        parts = module.split(".") if module else []
        if level:
            folder = folder_of(importer)
            for _ in range(level - 1):
                folder = os.path.dirname(folder)
            return self._walked_down(folder, parts)
        for folder in self._search_path(importer):
            if self._home(folder, parts[0]) is not None:
                return self._walked_down(folder, parts)
        searched = (self._in_namespace(folder, parts) for folder in self._search_path(importer))
        return next((one for one in searched if one is not None), None)

    def about(self, home: str, what: str) -> str | None:
        """The home of a file of the programs around that does something with the machine."""
        if what == APART:
            return home if self.is_apart(home) else None
        return self._uses.about(home, what)

    def demanded_by(self, home: str, name: str) -> str | None:
        """The home of a file in which a function of one may go to an accelerator."""
        return self._demands.made_by(home, name)

    def by_name(self, home: str, question: Question) -> str | None:
        """What the files of the project do with a name, as far as they mention it."""
        return self._users.answer(home, ImportResolver.root_of(self, home), question)

    def placed(self, home: str) -> str:
        """Where a file lies, and what that says of those who may use it."""
        root, is_alone = ImportResolver.root_of(self, home), ImportResolver.is_alone(self, home)
        installs, is_whole = self.outsiders.installs(root), self.outsiders.is_whole(root)
        is_marked = is_root(self._listing(root))
        packages = self._packages_around(home)
        return f"{root} {is_alone:d}{installs:d}{is_whole:d}{is_marked:d} {packages}"

    def _packages_around(self, home: str) -> int:
        """How many packages a file is in, each in the next one."""
        folder, found = os.path.dirname(home), 0
        while _PACKAGE in self._listing(folder):
            folder, found = os.path.dirname(folder), found + 1
        return found

    def inside(self, home: str, name: str) -> str | None:
        """The home of a submodule of a package."""
        folder = os.path.dirname(home) if os.path.basename(home) == _PACKAGE else home
        return None if folder.endswith(".py") else self._home(folder, name)

    def content(self, path: str) -> str:
        """The digest of what is in a file; empty where it cannot be read."""
        return self._files.content(path)

    @property
    def has_seen_changes(self) -> bool:
        """Whether a file had another content when it was read again."""
        return self._files.has_seen_changes

    def root_of(self, home: str) -> str:
        """The folder of the project to which a file belongs; its own where nothing marks one."""
        folders = list(folders_around(home, self._listing))
        return folders[-1] if is_root(self._listing(folders[-1])) else folders[0]

    def is_apart(self, home: str) -> bool:
        """Whether a file lies alone, and is no program."""
        return self.is_alone(home) and self.about(home, STARTS) is None

    def is_alone(self, home: str) -> bool:
        """Whether no other file lies beside a file, and nothing marks a project around it."""
        own, *others = folders_around(home, self._listing)
        outermost = others[-1] if others else own
        beside = [one for one in self._listing(own) if one.endswith((".py", ".ipynb"))]
        return not is_root(self._listing(outermost)) and beside == [os.path.basename(home)]

    def _search_path(self, importer: str) -> tuple[str, ...]:
        """Where an absolute import of a file is searched for, in order."""
        own = folder_of(importer)
        known = self._search_paths.get(own)
        if known is None:
            known = self._search_paths[own] = tuple(self._searched(importer))
        return known

    def _searched(self, importer: str) -> Iterator[str]:
        for folder in folders_around(importer, self._listing):
            yield folder
            if "src" in self._listing(folder):
                yield os.path.join(folder, "src")

    def _in_namespace(self, folder: str, parts: list[str]) -> str | None:
        """The home of a module below a folder that is a package by the folders in it alone."""
        for known, part in enumerate(parts[:-1], start=1):
            if part not in self._listing(folder):
                return None
            folder = os.path.join(folder, part)
            if self._home(folder, parts[known]) is not None:
                return self._walked_down(folder, parts[known:])
        return None

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
        entries, module = self._listing(folder), f"{name}.py"
        if name not in entries:
            return os.path.join(folder, module) if module in entries else None
        package = os.path.join(folder, name)
        inside = self._listing(package)
        if _PACKAGE in inside:
            return os.path.join(package, _PACKAGE)
        if module in entries:
            return os.path.join(folder, module)
        return package if any(one.endswith(".py") for one in inside) else None

    def _listing(self, folder: str) -> frozenset[str]:
        entries = self._entries.get(folder)
        if entries is None:
            self._entries[folder] = entries = listed(folder)
        return entries

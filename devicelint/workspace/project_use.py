"""What the programs around a file do with the machine: those that import it, and what these import.

Where none imports it, and it is no program itself, all files of the project are around it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain

from devicelint.domain.collected import is_collected
from devicelint.workspace.default_devices import DEFAULT_SETTERS
from devicelint.workspace.folder_use import Find, FolderUse
from devicelint.workspace.leading import Leading
from devicelint.workspace.modules import modules_below, modules_in
from devicelint.workspace.questions import (
    ASKED,
    AT_TIMES,
    BUILDS,
    CHOOSES,
    DEFAULTS,
    IMPORTED,
    LEADING,
    LEADS,
    MOST_LEADING,
    ON_CPU,
    PROGRAM,
    RUNS,
    STARTS,
    TAKES,
    TESTED,
    joined,
)
from devicelint.workspace.roots import Listing, folders_around, is_root, listed
from devicelint.workspace.summaries import Files

_PACKAGE = "__init__.py"
_MOST_FOLDERS = 32
"""What the files of so many folders do is kept at hand: a check looks at few."""
_SETTERS = tuple(sorted(one.rpartition(".")[2] for one in DEFAULT_SETTERS))


@dataclass
class ProjectUse:
    """What the files of projects do with the machine, each read once."""

    find: Find
    named: Callable[[str, str], Sequence[str] | None]
    """Which files below a folder mention a name, however large the project is."""
    listing: Listing = listed
    """What lies in a folder; who reads folders himself remembers them."""
    files: Files = field(default_factory=Files)
    """What their texts tell."""
    _answers: dict[tuple[str, str], str | None] = field(default_factory=dict)

    @cached_property
    def _leading(self) -> Leading:
        return Leading(self.find, self._mentioning, self.files)

    def about(self, home: str, what: str) -> str | None:
        """A file around that does this, the first by its name; None for none."""
        key = home, what
        if key not in self._answers:
            self._answers[key] = self._asked(home, what)
        return self._answers[key]

    def _asked(self, home: str, what: str) -> str | None:
        if what == LEADING:
            return joined(self._leading.to(home)[:MOST_LEADING])
        if what == RUNS:
            return home if self._leading.runs(home) else None
        folder = self._around(home)
        if folder is None:
            return None
        if what == DEFAULTS:
            return self._default_set_by(home, folder)
        if what in (ON_CPU, TESTED):
            root = next(iter(self._of_project(home)), None)
            if root is None or self._below(root) is not folder:
                return None
            return folder.on_the_cpu(home) if what == ON_CPU else folder.tested_by(home)
        if what == PROGRAM:
            return next(iter(folder.doing(STARTS)), None)
        if what == LEADS:
            led = folder.led_with(home)
            return next((one for one in folder.doing(CHOOSES) if one in led), None)
        of_file = {
            IMPORTED: folder.imported_by,
            ASKED: folder.asked_by,
            AT_TIMES: folder.imported_at_times,
            BUILDS: folder.built,
        }
        if what in of_file:
            return of_file[what](home)
        others = folder.led_from(home) if what == TAKES else folder.around(home)
        asked = others if what == CHOOSES else {*others, home}
        return next((one for one in folder.doing(what) if one in asked), None)

    def _default_set_by(self, home: str, folder: FolderUse) -> str | None:
        """A file of the folder, or of the whole project besides its tests, that does so."""
        root = next(iter(self._of_project(home)), None)
        mentioned = [] if root is None else [self.named(root, one) for one in _SETTERS]
        others = {one for found in mentioned for one in found or () if not is_collected(one)}
        return next(chain(folder.doing(DEFAULTS), filter(self._sets_default, sorted(others))), None)

    def _sets_default(self, home: str) -> bool:
        use = self.files.use(home)
        return use is not None and use.defaults

    def _around(self, home: str) -> FolderUse | None:
        """The largest folder of the project around a file that is not too large to be read."""
        for path in self._of_project(home):
            if (use := self._below(path)) is not None:
                return use
        return self._in(os.path.dirname(home))

    @cached_property
    def _below(self) -> Callable[[str], FolderUse | None]:
        """What the files below a folder do; None where that is too much to be read."""
        return lru_cache(_MOST_FOLDERS)(lambda folder: self._read(modules_below(folder)))

    @cached_property
    def _in(self) -> Callable[[str], FolderUse | None]:
        """What the files of a folder itself do."""
        return lru_cache(_MOST_FOLDERS)(lambda folder: self._read(modules_in(folder)))

    def _read(self, paths: Iterable[str] | None) -> FolderUse | None:
        return FolderUse.read(paths, self.files, self.find)

    def _mentioning(self, home: str, name: str) -> Iterator[str]:
        """The files of a project that mention a name; without a mark, those around a package."""
        root = next(iter(self._of_project(home)), None)
        if root is not None:
            return iter(self.named(root, name) or ())
        package, folder = "", os.path.dirname(home)
        while _PACKAGE in self.listing(folder):
            package, folder = folder, os.path.dirname(folder)
        from devicelint.workspace.named_files import mentioning

        inner = modules_below(package) if package else None
        return mentioning((*modules_in(folder), *(inner or ())), name, self.files)

    def _of_project(self, home: str) -> tuple[str, ...]:
        """The root of a project, and the folders from there to a file; none without a mark."""
        folders = tuple(folders_around(home, self.listing))
        return folders[::-1] if is_root(self.listing(folders[-1])) else ()

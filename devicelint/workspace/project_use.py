"""What the programs around a file do with the machine: those that import it, and what these import.

Where none imports it, and it is no program itself, all files of the project are around it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from devicelint.workspace.contents import content_of
from devicelint.workspace.machine_use import MachineUse
from devicelint.workspace.modules import modules_below, modules_in
from devicelint.workspace.roots import Listing, folders_around, is_root, listed

CHOOSES = "chooses"
"""A file around that chooses the machine."""
LEADS = "leads"
"""A file that chooses the machine, of a program that imports the file."""
TAKES = "takes"
"""A program that imports the file, or the file itself, which goes to an accelerator in any case."""
LETS = "lets"
"""A file around, or the file itself, that goes to a device that somebody names."""
DEFAULTS = "defaults"
"""A file of the project that sets the device of tensors that are given none."""
STARTS = "starts"
"""A program around, or the file itself, where it is one."""
ON_CPU = "on the CPU"
"""A program around, or the file itself, of a project that trains and never leaves the CPU."""
APART = "apart"
"""The file itself, where it lies alone and is no program: nothing says who uses it."""
TESTED = "tested"
"""A test beside the file, which tests something else, where nothing but tests imports the file."""

AT_TIMES = "at times"
"""A file that imports the file under a condition, where none imports it in any case."""
BUILDS = "builds"
"""The file itself, where it cannot be imported without what CUDA's compiler makes."""
IMPORTED = "imported"
"""A file that imports the file, and is no test."""

PROGRAM = "program"
"""A program of the project, whatever it uses."""
ASKED = "asked"
"""A file that imports the file, where all that do go by what the machine has, and by no name."""

_MOST_LINES = 50_000
_PACKAGE = "__init__.py"

Find = Callable[[str, str, int], str | None]
"""The home of a module that a file imports, by its name and the dots before it."""


@dataclass
class ProjectUse:
    """What the files of projects do with the machine, each read once."""

    find: Find
    listing: Listing = listed
    """What lies in a folder; who reads folders himself remembers them."""
    _folders: dict[str, _Folder | None] = field(default_factory=dict)
    _answers: dict[tuple[str, str], str | None] = field(default_factory=dict)

    def about(self, home: str, what: str) -> str | None:
        """A file around that does this, the first by its name; None for none."""
        key = home, what
        if key not in self._answers:
            self._answers[key] = self._asked(home, what)
        return self._answers[key]

    def _asked(self, home: str, what: str) -> str | None:
        folder = self._around(home)
        if folder is None:
            return None
        if what in (ON_CPU, TESTED):
            root = next(iter(self._of_project(home)), None)
            if self._folders.get(root or "") is not folder:
                return None
            return folder.on_the_cpu(home) if what == ON_CPU else folder.tested_by(home)
        if what in (DEFAULTS, PROGRAM):
            does = STARTS if what == PROGRAM else what
            return next((one for one in sorted(folder.uses) if folder.does(one, does)), None)
        if what == LEADS:
            led = sorted(folder.led_with(home))
            return next((one for one in led if folder.does(one, CHOOSES)), None)
        of_file = {
            IMPORTED: folder.imported_by,
            ASKED: folder.asked_by,
            AT_TIMES: folder.imported_at_times,
            BUILDS: folder.built,
        }
        if what in of_file:
            return of_file[what](home)
        others = folder.led_from(home) if what == TAKES else folder.around(home)
        asked = sorted(others if what == CHOOSES else {*others, home})
        return next((one for one in asked if folder.does(one, what)), None)

    def _around(self, home: str) -> _Folder | None:
        """The largest folder of the project around a file that is not too large to be read."""
        for path in self._of_project(home):
            if path not in self._folders:
                self._folders[path] = _Folder.read(modules_below(path), self.find)
            if self._folders[path] is not None:
                return self._folders[path]
        own = os.path.dirname(home)
        key = os.path.join(own, "")
        if key not in self._folders:
            self._folders[key] = _Folder.read(modules_in(own), self.find)
        return self._folders[key]

    def _of_project(self, home: str) -> tuple[str, ...]:
        """The root of a project, and the folders from there to a file; none without a mark."""
        folders = tuple(folders_around(home, self.listing))
        return folders[::-1] if is_root(self.listing(folders[-1])) else ()


@dataclass
class _Folder:
    """The files below a folder: what each does, and which of them it imports."""

    uses: dict[str, MachineUse]
    find: Find

    @classmethod
    def read(cls, files: Iterable[str] | None, find: Find) -> _Folder | None:
        """Read the files; None where that is too much."""
        uses, lines = {}, 0
        for file in files or ():
            data = content_of(file)
            if data is None:
                continue
            lines += data.count(b"\n") if b"torch" in data else 0
            if lines > _MOST_LINES:
                return None
            uses[file] = MachineUse.of(data, is_package=os.path.basename(file) == _PACKAGE)
        return None if files is None else cls(uses, find)

    def does(self, home: str, what: str) -> bool:
        """Whether a file does what is asked for."""
        use = self.uses.get(home, MachineUse())
        return bool(getattr(use, what))

    def around(self, home: str) -> Collection[str]:
        """The other files of the programs that a file is a part of."""
        importers = _reached([home], self._importers)
        is_program = home in self.uses and self.uses[home].starts
        if len(importers) == 1 and not is_program:
            return self.uses.keys() - {home}
        return _reached(importers, self._imports) - {home}

    def led_from(self, home: str) -> Collection[str]:
        """The programs that a file is a part of: those that import it, or any that may.

        What these import beside it is no program then, though a part of it may be one by itself.
        """
        importers = _reached([home], self._importers) - {home}
        return importers or ([] if self.does(home, STARTS) else self.uses.keys() - {home})

    def led_with(self, home: str) -> Collection[str]:
        """The other files of the programs that import a file; none, where nothing does."""
        importers = _reached([home], self._importers)
        return _reached(importers, self._imports) - {home} if len(importers) > 1 else ()

    def on_the_cpu(self, home: str) -> str | None:
        """A program around that trains there, where no file has to do with another device."""
        if self._may_leave:
            return None
        around = sorted({*self.around(home), home})
        if not any(self.does(one, "trains") for one in around):
            return None
        programs = (one for one in around if self.does(one, STARTS) and not is_test(one))
        return next(programs, None)

    def imported_by(self, home: str) -> str | None:
        """A file that imports this one, and is no test."""
        any_file = {one for one in self.uses if one != home and self.uses[one].imports_any}
        importers = {*self._importers.get(home, ()), *any_file}
        return next((one for one in sorted(importers) if not is_test(one)), None)

    def asked_by(self, home: str) -> str | None:
        """A file that imports this one, where each of these asks the machine where to go."""
        importers = sorted(one for one in self._importers.get(home, ()) if not is_test(one))
        asking = [one for one in importers if self.does(one, CHOOSES) and not self.does(one, LETS)]
        return next(iter(importers), None) if asking == importers else None

    def imported_at_times(self, home: str) -> str | None:
        """A file that imports this one under a condition, where it is no program itself."""
        importers = self._importers.get(home, set())
        if self.does(home, STARTS) or any(home in self._at_once[one] for one in importers):
            return None
        return next(iter(sorted(importers)), None)

    def built(self, home: str) -> str | None:
        """The file itself, if it cannot be imported without CUDA's compiler."""
        return home if home in self._for_cuda else None

    @cached_property
    def _for_cuda(self) -> frozenset[str]:
        """The files that nobody can import without what CUDA's compiler makes."""
        found = frozenset(home for home, use in self.uses.items() if use.builds)
        if not (found or self._installed):
            return found
        while more := {one for one in self.uses.keys() - found if self._needs_one(one, found)}:
            found |= more
        return found

    def _needs_one(self, home: str, built: Collection[str]) -> bool:
        """Whether a file imports one of those that are for CUDA, whichever way it goes."""
        use = self.uses[home]
        return self._leads_to(home, use.at_once, built) or any(
            all(self._leads_to(home, group, built) for group in ways) for ways in use.instead
        )

    def _leads_to(
        self, home: str, imports: Collection[tuple[str, int]], built: Collection[str]
    ) -> bool:
        if any(self._is_installed(*one) for one in imports):
            return True
        return any(one in built for one in self._found(home, imports))

    def _is_installed(self, module: str, level: int) -> bool:
        if not level:
            return module in self._installed
        return any(one.endswith(f".{module}") for one in self._installed if module)

    @cached_property
    def _installed(self) -> frozenset[str]:
        return frozenset().union(*(use.installs for use in self.uses.values()))

    def tested_by(self, home: str) -> str | None:
        """A test that imports a file which only tests import, and that tests something else.

        A file that lies beside its own tests is what they test.
        """
        importers = self._importers.get(home, set())
        if not all(map(is_test, importers)):
            return None
        own = os.path.dirname(home)
        helped = (one for one in sorted(importers) if os.path.dirname(one) == own)
        return next((one for one in helped if self._tests_others(one)), None)

    def _tests_others(self, test: str) -> bool:
        """Whether a test imports what lies in another folder."""
        own = os.path.dirname(test)
        modules = (one for one in self._imports[test] if os.path.basename(one) != _PACKAGE)
        packages = (one for one in self._imports[test] if os.path.basename(one) == _PACKAGE)
        return any(os.path.dirname(one) != own for one in modules) or any(
            not own.startswith(os.path.dirname(one)) for one in packages
        )

    @cached_property
    def _may_leave(self) -> bool:
        """Whether a file has to do with another device, or a notebook of torch may."""
        if any(self.does(one, "leaves") for one in self.uses):
            return True
        return any(b"torch" in (content_of(one) or b"") for one in self._notebooks())

    def _notebooks(self) -> Iterator[str]:
        for folder in dict.fromkeys(map(os.path.dirname, self.uses)):
            for name in sorted(listed(folder)):
                if name.endswith(".ipynb"):
                    yield os.path.join(folder, name)

    @cached_property
    def _imports(self) -> dict[str, set[str]]:
        return {home: set(self._imported_by(home)) for home in self.uses}

    @cached_property
    def _at_once(self) -> dict[str, set[str]]:
        return {home: set(self._found(home, use.at_once)) for home, use in self.uses.items()}

    @cached_property
    def _importers(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for importer, imported in self._imports.items():
            for one in imported:
                found.setdefault(one, set()).add(importer)
        return found

    def _imported_by(self, home: str) -> Iterator[str]:
        yield from self._found(home, self.uses[home].imports)

    def _found(self, home: str, imports: Iterable[tuple[str, int]]) -> Iterator[str]:
        for module, level in imports:
            found = self.find(home, module, level) if module or level else None
            if found is not None and found != home:
                yield found
                yield from self._packages_of(found)

    def _packages_of(self, home: str) -> Iterator[str]:
        """What is executed before a module of a package."""
        folder = os.path.dirname(home)
        while (package := os.path.join(folder, _PACKAGE)) in self.uses:
            yield package
            folder = os.path.dirname(folder)


def is_test(home: str) -> bool:
    """Whether pytest collects tests from a file, as it does by default."""
    name = os.path.basename(home)
    return name.startswith("test_") or name.endswith("_test.py")


def _reached(start: Iterable[str], edges: dict[str, set[str]]) -> set[str]:
    found = set(start)
    waiting = list(found)
    while waiting:
        new = edges.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found

"""The files below a folder of a project: what each does with the machine, and which it imports."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from devicelint.domain.collected import is_collected
from devicelint.workspace.contents import content_of
from devicelint.workspace.machine_use import MachineUse
from devicelint.workspace.questions import (
    CHOOSES,
    LETS,
    STARTS,
)
from devicelint.workspace.roots import listed
from devicelint.workspace.summaries import Files

_MOST_LINES = 50_000
_PACKAGE = "__init__.py"

Find = Callable[[str, str, int], str | None]
"""The home of a module that a file imports, by its name and the dots before it."""


@dataclass
class FolderUse:
    """The files below a folder: what each does, and which of them it imports."""

    uses: dict[str, MachineUse]
    find: Find
    _doing: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def read(cls, paths: Iterable[str] | None, files: Files, find: Find) -> FolderUse | None:
        """Read the files; None where that is too much."""
        if paths is None:
            return None
        readable, lines = [], 0
        for path in paths:
            if (summary := files.summary(path)) is not None:
                lines += max(summary.torch_lines, 0)
                readable.append(path)
            if lines > _MOST_LINES:
                return None
        uses = ((path, files.use(path)) for path in readable)
        return cls({path: use for path, use in uses if use is not None}, find)

    def does(self, home: str, what: str) -> bool:
        """Whether a file does what is asked for."""
        use = self.uses.get(home)
        return use is not None and bool(getattr(use, what))

    def doing(self, what: str) -> tuple[str, ...]:
        """The files that do what is asked for, by their names."""
        if what not in self._doing:
            found = (home for home, use in self.uses.items() if getattr(use, what))
            self._doing[what] = tuple(sorted(found))
        return self._doing[what]

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
        programs = (one for one in around if self.does(one, STARTS) and not is_collected(one))
        return next(programs, None)

    def imported_by(self, home: str) -> str | None:
        """A file that imports this one, and is no test."""
        any_file = {one for one in self.uses if one != home and self.uses[one].imports_any}
        importers = {*self._importers.get(home, ()), *any_file}
        return next((one for one in sorted(importers) if not is_collected(one)), None)

    def asked_by(self, home: str) -> str | None:
        """A file that imports this one, where each of these asks the machine where to go."""
        importers = sorted(one for one in self._importers.get(home, ()) if not is_collected(one))
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
        if not all(map(is_collected, importers)):
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
        if self.doing("leaves"):
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


def _reached(start: Iterable[str], edges: dict[str, set[str]]) -> set[str]:
    found = set(start)
    waiting = list(found)
    while waiting:
        new = edges.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found

"""Who reads a checkpoint that a file loads, and who has written it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import chain

import libcst as cst

from devicelint.domain.events import Load, LoadUse
from devicelint.domain.history import Site
from devicelint.interpreter.callers import SeenLoad, signature_of
from devicelint.interpreter.facts.name_uses import is_mentioned, reads_of
from devicelint.workspace import users
from devicelint.workspace.project import Project

_OF_NO_CHECKPOINT = {LoadUse.RANDOM_STATE, LoadUse.RETURNED}


@dataclass(frozen=True)
class Readers:
    """The functions of a project that lead to the loads of a file, as far as they are seen."""

    project: Project | None
    home: str
    notebook: cst.Module | None = None
    """The file where it is a notebook, which nothing imports."""

    def need_no_location(self, load: Load) -> bool:
        """Whether what is read lies where it can be read, or is no checkpoint."""
        return (
            self.save_from_the_cpu(load) or self.make_nothing_of(load) or self.load_their_own(load)
        )

    def save_from_the_cpu(self, load: Load) -> bool:
        """Whether all that the project saves, and a load may read, is on the CPU then."""
        if self.project is None:
            return False
        return load.file.is_from_the_cpu(chain(load.beside, self.project.written_around(self.home)))

    def load_their_own(self, load: Load) -> bool:
        """Whether all who are seen to call what reads a checkpoint have saved that themselves."""
        project, names = self.project, _names_of(load.entries)
        if project is None or self.notebook is not None or names is None:
            return False
        readings = () if project.is_alone(self.home) else self._readings(load)
        if not (readings and all(one.fits for one in readings)):
            return False
        return all(users.has_known_callers(project, self.home, one) for one in names)

    def make_nothing_of(self, load: Load) -> bool:
        """Whether nobody is seen to use as a checkpoint what a function has loaded and returns."""
        if load.uses != {LoadUse.RETURNED}:
            return False
        return all(one.uses <= _OF_NO_CHECKPOINT for one in self._readings(load))

    def _readings(self, load: Load) -> list[SeenLoad]:
        """What the function that reads a checkpoint is seen to read, by those who call it."""
        names, function = _names_of(load.entries), load.reader
        reader = signature_of(function) if isinstance(function, cst.FunctionDef) else None
        if self.project is None or names is None or reader is None:
            return []
        return [
            reading for one in names for reading in self.project.loads_of(self.home, one, reader)
        ]

    def never_read(self, load: Load) -> bool:
        """Whether nothing calls the functions that read a checkpoint, as far as anybody sees."""
        names = _names_of(load.entries)
        return names is not None and all(map(self._is_never_called, names))

    def _is_never_called(self, name: str) -> bool:
        tree = self.notebook or self._tree_of_known_users(name)
        return tree is not None and not is_mentioned(reads_of(tree), name)

    def _tree_of_known_users(self, name: str) -> cst.Module | None:
        """The file, if nobody else in its project, nor whoever installs that, calls a function."""
        project = self.project
        if project is None or project.is_alone(self.home) or project.may_call(self.home, name):
            return None
        program = project.program(self.home)
        return None if program is None else program.tree


def _names_of(entries: Collection[Site]) -> list[str] | None:
    """The names of functions without decorators; None where a program leads there, or others do."""
    functions = [one for one in entries if isinstance(one, cst.FunctionDef) and not one.decorators]
    return [one.name.value for one in functions] if len(functions) == len(entries) else None

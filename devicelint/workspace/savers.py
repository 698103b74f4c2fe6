"""Which checkpoints the files of a project save, as far as walking those that do shows it."""

from __future__ import annotations

from collections.abc import Callable, Collection

from devicelint.domain.checkpoints import WrittenFile
from devicelint.interpreter import Program
from devicelint.interpreter.callers import written_by
from devicelint.workspace.contents import content_of
from devicelint.workspace.named_files import NamedFiles

_MENTIONED = "state_dict"
"""What whoever saves a model mentions."""
_CALLS = (b"torch", b".save(")
_MOST = 8
"""How many files are walked for what they save."""


class Savers:
    """The checkpoints that files save, each of which is walked once, when it is asked for."""

    def __init__(self, named: NamedFiles, program: Callable[[str], Program | None]) -> None:
        self._named = named
        self._program = program
        self._known: dict[str, Collection[WrittenFile]] = {}

    def forget(self) -> None:
        """Walk every file again."""
        self._known.clear()

    def around(self, home: str, root: str) -> frozenset[WrittenFile]:
        """What the other files below a folder save; nothing, where too many of them may."""
        mentioned = self._named.files(root, _MENTIONED) or ()
        savers = [one for one in mentioned if one != home and _saves(one)]
        if len(savers) > _MOST:
            return frozenset()
        return frozenset(file for one in savers for file in self._written(one))

    def _written(self, home: str) -> Collection[WrittenFile]:
        if home not in self._known:
            program = self._program(home)
            self._known[home] = () if program is None else written_by(program)
        return self._known[home]


def _saves(home: str) -> bool:
    """Whether it can call `torch.save`."""
    data = content_of(home) or b""
    return all(one in data for one in _CALLS)

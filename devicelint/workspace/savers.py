"""Which checkpoints the files of a project save, as far as walking those that do shows it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from devicelint.domain.checkpoints import WrittenFile
from devicelint.domain.collected import is_collected
from devicelint.workspace.contents import content_of
from devicelint.workspace.full_names import bound_by, full_name
from devicelint.workspace.named_files import NamedFiles
from devicelint.workspace.syntax import nodes_of, parsed

_MENTIONED = "save"
"""What whoever saves something mentions."""
_CALLS = (b"torch", b"save(")
_SAVERS = frozenset({"torch.save", "torch.jit.save"})
_MOST = 8
"""How many files are walked for what they save."""


class Savers:
    """The checkpoints that files save, each of which is walked when it is asked for."""

    def __init__(
        self, named: NamedFiles, written_by: Callable[[str], Collection[WrittenFile]]
    ) -> None:
        self._named = named
        self._written_by = written_by

    def around(self, home: str, root: str) -> Iterator[WrittenFile]:
        """Yield what the other files below a folder save: where many do, those beside the file.

        A file is walked when its turn comes, so that whoever has seen enough leaves the rest.
        """
        mentioned = self._named.files(root, _MENTIONED) or ()
        savers = [one for one in mentioned if one != home and _saves(one)]
        if len(savers) > _MOST:
            beside = Path(home).parent
            savers = [one for one in savers if Path(one).parent == beside]
        if len(savers) <= _MOST:
            for one in savers:
                yield from self._written_by(one)


def _saves(home: str) -> bool:
    """Whether it calls what saves tensors; tests save what they load themselves."""
    data = content_of(home) or b""
    if not all(one in data for one in _CALLS) or is_collected(home):
        return False
    tree = parsed(data)
    if tree is None:
        return False
    nodes = tuple(nodes_of(tree))
    meant = bound_by(nodes)
    calls = (one.func for one in nodes if isinstance(one, ast.Call))
    return any(full_name(one, meant) in _SAVERS for one in calls)

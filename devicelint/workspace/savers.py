"""Which files of a project save checkpoints."""

from __future__ import annotations

import ast
from pathlib import Path

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


def savers_around(named: NamedFiles, home: str, root: str) -> list[str]:
    """The other files below a folder that save something: where many do, those beside the file."""
    mentioned = named.files(root, _MENTIONED) or ()
    savers = [one for one in mentioned if one != home and _saves(one)]
    if len(savers) > _MOST:
        beside = Path(home).parent
        savers = [one for one in savers if Path(one).parent == beside]
    return savers if len(savers) <= _MOST else []


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

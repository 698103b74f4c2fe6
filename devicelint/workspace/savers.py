"""Whether a file saves checkpoints."""

from __future__ import annotations

import ast

from devicelint.workspace.full_names import bound_by, full_name
from devicelint.workspace.syntax import nodes_of, parsed

_CALLS = (b"torch", b"save(")
_SAVERS = frozenset({"torch.save", "torch.jit.save"})


def saves(data: bytes) -> bool:
    """Whether a text calls what saves tensors."""
    if not all(one in data for one in _CALLS):
        return False
    tree = parsed(data)
    if tree is None:
        return False
    nodes = tuple(nodes_of(tree))
    meant = bound_by(nodes)
    calls = (one.func for one in nodes if isinstance(one, ast.Call))
    return any(full_name(one, meant) in _SAVERS for one in calls)

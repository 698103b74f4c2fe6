"""What Python's own parser makes of a file, and the nodes of that."""

from __future__ import annotations

import ast
import warnings


def nodes_of(tree: ast.AST) -> list[ast.AST]:
    """All nodes of a tree, in the order of `ast.walk`, and in a third of its time."""
    found = [tree]
    for node in found:
        for name in node._fields:
            part = getattr(node, name, None)
            if isinstance(part, list):
                found.extend(one for one in part if isinstance(one, ast.AST))
            elif isinstance(part, ast.AST):
                found.append(part)
    return found


def parsed(data: bytes) -> ast.Module | None:
    """The tree of a file; None for what is no Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None

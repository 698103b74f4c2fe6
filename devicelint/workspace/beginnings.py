"""What a file does as it begins: it works, or imports what others need."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devicelint.workspace.syntax import imports_among


def imported_at_once(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """The modules that a file imports under no condition, as soon as it is imported itself."""
    yield from imports_among(
        one for one in tree.body if isinstance(one, (ast.Import, ast.ImportFrom))
    )


def imported_instead(tree: ast.Module) -> Iterator[tuple[frozenset[tuple[str, int]], ...]]:
    """The modules that a file tries to import, and those that it imports where that fails."""
    for one in tree.body:
        if isinstance(one, ast.Try) and one.handlers:
            ways = (one.body, *(handler.body for handler in one.handlers))
            yield tuple(frozenset(imports_among(way)) for way in ways)


def starts(statement: ast.stmt) -> bool:
    """Whether a statement of a file does something, rather than define what others use."""
    match statement:
        case ast.If(ast.Compare(ast.Name("__name__"))):
            return True
        case ast.For() | ast.While():
            return True
        case _:
            return False

"""What Python's own parser makes of a file, and the nodes of that."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Iterator
from functools import lru_cache

_PLAIN = frozenset(
    {
        *("arg", "asname", "attr", "conversion", "ctx", "id", "is_async", "kind", "kwd_attrs"),
        *("level", "module", "name", "names", "op", "ops", "rest", "simple", "tag"),
        *("type_comment", "type_ignores"),
    }
)
"""Fields that hold no nodes, or such as only say how an expression or a name is used."""


_KINDS = [each for each in vars(ast).values() if isinstance(each, type)]
_FIELDS: dict[type, tuple[str, ...]] = {
    kind: tuple(one for one in kind._fields if one not in _PLAIN)
    for kind in _KINDS
    if issubclass(kind, ast.AST)
}
"""Where each kind of node has others."""
_FIELDS[ast.Constant] = ()


def nodes_of(tree: ast.AST) -> list[ast.AST]:
    """The nodes of a tree in the order of `ast.walk`, but for operators, contexts and aliases."""
    found = [tree]
    for node in found:
        for name in _FIELDS[type(node)]:
            part = getattr(node, name, None)
            if isinstance(part, list):
                found.extend([one for one in part if isinstance(one, ast.AST)])
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


def imports_among(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, int]]:
    """The modules, and the dots before them; what is imported from one may be one, too."""
    for node in nodes:
        match node:
            case ast.Import(names):
                yield from (imported(one.name, 0) for one in names)
            case ast.ImportFrom(module, names, level):
                yield imported(module or "", level)
                inner = (f"{module}.{one.name}" if module else one.name for one in names)
                yield from (imported(name, level) for name in inner)
            case _:
                pass


@lru_cache(maxsize=4_000)
def imported(module: str, level: int) -> tuple[str, int]:
    """A module and the dots before it; most files import the same, and share it in memory."""
    return module, level


def parameters_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> frozenset[str]:
    """The names of what a function is given, but for `*args` and `**kwargs`."""
    given = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    return frozenset(one.arg for one in given)

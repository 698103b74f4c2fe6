"""Which modules a file may import, and what its functions are given, by name."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator


def imports_among(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, int]]:
    """The modules, and the dots before them; what is imported from one may be one, too."""
    for node in nodes:
        match node:
            case ast.Import(names):
                yield from ((one.name, 0) for one in names)
            case ast.ImportFrom(module, names, level):
                yield module or "", level
                inner = (f"{module}.{one.name}" if module else one.name for one in names)
                yield from ((name, level) for name in inner)
            case _:
                pass


def parameters_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> frozenset[str]:
    """The names of what a function is given, but for `*args` and `**kwargs`."""
    given = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    return frozenset(one.arg for one in given)

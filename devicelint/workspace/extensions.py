"""Extensions of torch with code for CUDA: those that a file builds, and those it imports.

`torch.utils.cpp_extension` compiles them with CUDA's compiler, and raises where there is none.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

from devicelint.domain.devices import CUDA_SOURCES

_MODULE = "torch.utils.cpp_extension"
_LOADS = frozenset({f"{_MODULE}.load", f"{_MODULE}.load_inline"})
_INSTALLED = f"{_MODULE}.CUDAExtension"

Named = Callable[[ast.expr], str]
"""The full name of what an expression means."""


def builds_for_cuda(statements: Iterable[ast.stmt], named: Named) -> bool:
    """Whether a file builds such an extension under no condition, as soon as it is imported."""
    return any(
        isinstance(node, ast.Call) and named(node.func) in _LOADS and _is_for_cuda(node)
        for statement in statements
        if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Expr))
        for node in ast.walk(statement)
    )


def _is_for_cuda(load: ast.Call) -> bool:
    for given in load.keywords:
        match given:
            case ast.keyword("cuda_sources") | ast.keyword("with_cuda", ast.Constant(True)):
                return True
            case _:
                pass
    return any(
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.value.endswith(CUDA_SOURCES)
        for node in ast.walk(load)
    )


def installed_for_cuda(calls: Iterable[ast.AST], named: Named) -> Iterator[str]:
    """The modules that a `setup.py` builds with CUDA's compiler: `CUDAExtension("_kernel", …)`."""
    for one in calls:
        if isinstance(one, ast.Call) and named(one.func) == _INSTALLED:
            given = (each.value for each in one.keywords if each.arg == "name")
            match next(given, one.args[0] if one.args else None):
                case ast.Constant(str(name)):
                    yield name
                case _:
                    pass

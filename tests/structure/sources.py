"""The modules of the packages as syntax trees, and what each of them imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("devicelint", "runtime_guard", "_device_pages")


@dataclass(frozen=True)
class Module:
    """One file of a package."""

    name: str
    path: Path

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def place(self) -> str:
        """The path below the root, as allow-lists have it."""
        return self.path.relative_to(ROOT).as_posix()


@lru_cache
def modules(package: str) -> dict[str, Module]:
    """Every module of a package, by name."""
    found = {}
    for path in sorted((ROOT / package.replace(".", "/")).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = Module(name, path)
    return found


def imported(tree: ast.AST, known: dict[str, Module]) -> Iterator[str]:
    """The known modules that the imports in a tree name, wherever they stand."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names if one.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            for one in node.names:
                inner = f"{node.module}.{one.name}"
                if inner in known or node.module in known:
                    yield inner if inner in known else node.module


def functions(tree: ast.AST) -> Iterator[ast.AST]:
    """Every function of a tree."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield node

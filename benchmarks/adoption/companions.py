"""Which other files of a script's folder are its own: those that it imports, and theirs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from benchmarks.adoption.cells import text_of


def companions(file: Path) -> list[Path]:
    """The modules beside a script that it imports, directly or not, in a fixed order."""
    found: dict[Path, None] = {}
    waiting = [file]
    while waiting:
        for each in _imported(waiting.pop(0)):
            if each != file and each not in found:
                found[each] = None
                waiting.append(each)
    return sorted(found)


def _imported(file: Path) -> Iterator[Path]:
    data = file.read_bytes()
    try:
        tree = ast.parse(text_of(data) if file.suffix == ".ipynb" else data)
    except SyntaxError:
        return
    for name in dict.fromkeys(name for node in ast.walk(tree) for name in _names(node)):
        beside = file.parent.joinpath(*name.split(".")).with_suffix(".py")
        if beside.is_file() and "torch" in beside.read_text(encoding="utf-8", errors="replace"):
            yield beside


def _names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        if node.module:
            yield node.module
        base = f"{node.module}." if node.module else ""
        yield from (f"{base}{alias.name}" for alias in node.names)

"""Reads catalogue files: nested classes stand for modules, annotated names for what is in them.

`anything: Mark` marks every name of a module, and of the modules in it, that is not listed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from devicelint.knowledge.stubs_index import FOLDER, StubError

DEFAULT = "anything"


def read(file: str) -> Mapping[str, str]:
    """The marks of a catalogue file by qualified name."""
    text = (FOLDER / f"{file}.pyi").read_text(encoding="utf-8")
    return dict(_marks(ast.parse(text).body, "", file))


def entry_for(marks: Mapping[str, str], qualified_name: str) -> str | None:
    """The mark of a name: its own, or the default of the nearest module around it."""
    found = marks.get(qualified_name)
    module = qualified_name
    while found is None and "." in module:
        module = module.rpartition(".")[0]
        found = marks.get(f"{module}.{DEFAULT}")
    return found


def _marks(body: list[ast.stmt], module: str, file: str) -> Iterator[tuple[str, str]]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _marks(node.body, f"{module}{node.name}.", file)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield f"{module}{node.target.id}", ast.unparse(node.annotation)
        elif not _is_placeholder(node):
            raise StubError(f"{file}.pyi:{node.lineno}: neither a module nor a marked name")


def _is_placeholder(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)

"""Give the variables, functions and classes of a script other names, all that it means kept."""

from __future__ import annotations

import builtins
from collections.abc import Iterator

import libcst as cst

_MEANT = frozenset(dir(builtins)) | {"self", "cls", "__name__", "__file__"}


def renamed(code: str) -> str:
    """The code with other names for what it binds itself.

    Names that somebody else may give a meaning stay: attributes, keywords, what is imported, what
    a string says, and tests, which are collected by their names.
    """
    tree = cst.parse_module(code)
    bound = _Bound()
    tree.visit(bound)
    chosen = [
        name
        for name in bound.names
        if name not in bound.taken
        and name not in _MEANT
        and not name.startswith(("__", "test", "Test", "reveal_"))
    ]
    names = {name: _other(number) for number, name in enumerate(chosen)}
    return tree.visit(_Renaming(names)).code


def _other(number: int) -> str:
    """A name that means nothing."""
    return f"zq{number}"


class _Bound(cst.CSTVisitor):
    """The names that a script binds, in their order, and those that have to stay."""

    def __init__(self) -> None:
        self.names: dict[str, None] = {}
        self.taken: set[str] = set()
        self._classes: list[bool] = [False]

    def visit_ClassDef(self, node: cst.ClassDef) -> None:
        self._bind(node.name)
        self._classes.append(True)

    def leave_ClassDef(self, original_node: cst.ClassDef) -> None:
        self._classes.pop()

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        if self._classes[-1]:
            self.taken.add(node.name.value)
        else:
            self._bind(node.name)
        self._classes.append(False)

    def leave_FunctionDef(self, original_node: cst.FunctionDef) -> None:
        self._classes.pop()

    def visit_Param(self, node: cst.Param) -> None:
        self._bind(node.name)

    def visit_AssignTarget(self, node: cst.AssignTarget) -> None:
        self._target(node.target)

    def visit_AnnAssign(self, node: cst.AnnAssign) -> None:
        self._target(node.target)

    def visit_NamedExpr(self, node: cst.NamedExpr) -> None:
        self._target(node.target)

    def visit_For(self, node: cst.For) -> None:
        self._target(node.target)

    def visit_CompFor(self, node: cst.CompFor) -> None:
        self._target(node.target)

    def visit_AsName(self, node: cst.AsName) -> None:
        self._target(node.name)

    def visit_ImportAlias(self, node: cst.ImportAlias) -> bool:
        self.taken.update(_names_in(node))
        return False

    def visit_Attribute(self, node: cst.Attribute) -> None:
        self.taken.add(node.attr.value)

    def visit_Arg(self, node: cst.Arg) -> None:
        if node.keyword is not None:
            self.taken.add(node.keyword.value)

    def visit_SimpleString(self, node: cst.SimpleString) -> None:
        words = "".join(one if one.isidentifier() or one.isdigit() else " " for one in node.value)
        self.taken.update(words.split())

    def visit_Annotation(self, node: cst.Annotation) -> None:
        self.taken.update(_names_in(node))

    def _target(self, target: cst.CSTNode) -> None:
        if isinstance(target, cst.Name):
            self._bind(target)
        elif isinstance(target, (cst.Tuple, cst.List)):
            for one in target.elements:
                self._target(one.value)

    def _bind(self, name: cst.Name) -> None:
        if self._classes[-1]:
            self.taken.add(name.value)
        self.names[name.value] = None


class _Renaming(cst.CSTTransformer):
    def __init__(self, names: dict[str, str]) -> None:
        self._names = names

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.Name:
        return updated_node.with_changes(
            value=self._names.get(original_node.value, original_node.value)
        )


def _names_in(node: cst.CSTNode) -> Iterator[str]:
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, cst.Name):
            yield one.value
        waiting.extend(one.children)

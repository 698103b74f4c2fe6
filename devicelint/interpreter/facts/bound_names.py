"""The names that a scope binds, and which are free for a new variable."""

from __future__ import annotations

import functools

import libcst as cst

from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.run import Run


def is_free(run: Run, name: str, frame: Frame) -> bool:
    """Whether a new variable of the file could have this name, and be seen from a frame."""
    if name in names_bound_in(run.module):
        return False
    if any(name in run.state.fields(ref) for ref in frame.scopes):
        return False
    return frame.ref == frame.home or name not in names_bound_in(frame.node)


@functools.lru_cache(maxsize=200)
def names_bound_in(scope: cst.CSTNode) -> frozenset[str]:
    """The names that one scope binds, anywhere in it."""
    binder = _Binder(scope)
    scope.visit(binder)
    return frozenset(binder.names)


class _Binder(cst.CSTVisitor):
    """Gathers the names that one scope binds, anywhere in it."""

    def __init__(self, scope: cst.CSTNode) -> None:
        self._scope = scope
        self.names: set[str] = set()

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        if node is not self._scope:
            self.names.add(node.name.value)
        return node is self._scope

    def visit_ClassDef(self, node: cst.ClassDef) -> bool:
        self.names.add(node.name.value)
        return False

    def visit_Lambda(self, node: cst.Lambda) -> bool:
        return node is self._scope

    def visit_Param(self, node: cst.Param) -> None:
        self.names.add(node.name.value)

    def visit_AssignTarget(self, node: cst.AssignTarget) -> None:
        self._bind(node.target)

    def visit_AnnAssign(self, node: cst.AnnAssign) -> None:
        self._bind(node.target)

    def visit_AugAssign(self, node: cst.AugAssign) -> None:
        self._bind(node.target)

    def visit_For(self, node: cst.For) -> None:
        self._bind(node.target)

    def visit_NamedExpr(self, node: cst.NamedExpr) -> None:
        self._bind(node.target)

    def visit_AsName(self, node: cst.AsName) -> None:
        self._bind(node.name)

    def visit_ImportAlias(self, node: cst.ImportAlias) -> None:
        if node.asname is None:
            self.names.add(node.evaluated_name.partition(".")[0])

    def _bind(self, target: cst.CSTNode) -> None:
        if isinstance(target, cst.Name):
            self.names.add(target.value)
        elif isinstance(target, (cst.Tuple, cst.List)):
            for element in target.elements:
                self._bind(element.value)

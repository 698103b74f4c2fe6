"""The names that a scope binds, and which are free for a new variable."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import libcst as cst

from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.nodes import cached_of_nodes, children, names_bound_by
from devicelint.interpreter.engine.run import Run


def is_free(run: Run, name: str, frame: Frame) -> bool:
    """Whether a new variable of the file could have this name, and be seen from a frame."""
    if name in names_bound_in(run.module):
        return False
    if any(name in run.state.fields(ref) for ref in frame.scopes):
        return False
    return frame.ref == frame.home or name not in names_bound_in(frame.node)


@cached_of_nodes(1_000)
def names_bound_in(scope: cst.CSTNode) -> frozenset[str]:
    """The names that one scope binds, anywhere in it."""
    names: set[str] = set()
    waiting = [scope]
    while waiting:
        node = waiting.pop()
        if isinstance(node, cst.ClassDef) or (_is_scope(node) and node is not scope):
            if isinstance(node, (cst.ClassDef, cst.FunctionDef)):
                names.add(node.name.value)
            continue
        bound_by = _BINDERS.get(type(node))
        if bound_by is not None:
            names.update(bound_by(node))
        waiting.extend(children(node))
    return frozenset(names)


def _is_scope(node: cst.CSTNode) -> bool:
    return type(node) is cst.FunctionDef or type(node) is cst.Lambda


def _by_target(node: cst.AssignTarget | cst.AnnAssign | cst.For) -> Iterator[str]:
    return names_bound_by(node.target)


def _by_alias(node: cst.ImportAlias) -> Iterator[str]:
    if node.asname is None:
        yield node.evaluated_name.partition(".")[0]


_BINDERS: Mapping[type[cst.CSTNode], Callable[[Any], Iterable[str]]] = {
    **dict.fromkeys(
        (cst.AssignTarget, cst.AnnAssign, cst.AugAssign, cst.For, cst.NamedExpr), _by_target
    ),
    cst.Param: lambda node: (node.name.value,),
    cst.AsName: lambda node: names_bound_by(node.name),
    cst.ImportAlias: _by_alias,
}
"""What binds names, and how."""

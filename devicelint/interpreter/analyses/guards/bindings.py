"""Where the program settles what its guards ask, and what it comes to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from devicelint.domain.history import Site
from devicelint.interpreter.analyses.guards.conditions import (
    Asked,
    Scope,
    around,
    follows_values,
    roots_of,
)
from devicelint.interpreter.engine.nodes import children, descendants, names_bound_by
from devicelint.interpreter.facts.name_uses import Reads, last_name

_FUNCTIONS = (cst.FunctionDef, cst.Lambda)


@dataclass(frozen=True, eq=False)
class Settled:
    """The block in which the names of a condition get their values."""

    scope: Scope
    block: tuple[cst.CSTNode, ...]
    last: int
    """The statement that gives the last of them; what is before the first, for parameters."""
    bindings: tuple[cst.CSTNode, ...] = ()
    """Nothing, where the function is given them."""

    @property
    def statement(self) -> cst.CSTNode | None:
        """The statement that settles it; None where the function is given the answer."""
        return self.block[self.last] if self.bindings else None

    @property
    def is_kept(self) -> bool:
        """Whether it is an attribute of `self`."""
        return isinstance(self.scope, cst.ClassDef)

    def precedes(self, reads: Reads, site: cst.CSTNode) -> bool:
        """Whether the answer is known at a place: after it, or in a function of the scope."""
        child, called = site, False
        for parent in around(reads, site):
            if any(child is one for one in self.block):
                return called or self._index(child) > self.last
            if parent is self.scope:
                break
            called = called or isinstance(parent, _FUNCTIONS)
            child = parent
        return called

    def first_with(self, reads: Reads, sites: Sequence[Site]) -> cst.CSTNode | None:
        """The first statement of the block in which one of some places stands."""
        within = {parent for site in sites for parent in around(reads, site)} | {*sites}
        return next((one for one in self.block if one in within), None)

    def _index(self, statement: cst.CSTNode) -> int:
        return index_of(statement, self.block)


def index_of(statement: cst.CSTNode, block: Sequence[cst.CSTNode]) -> int:
    """Which of the statements of a block it is."""
    return next(index for index, one in enumerate(block) if one is statement)


def settled(reads: Reads, asked: Asked) -> Settled | None:
    """Where a condition is settled; None where that is unclear."""
    if isinstance(asked.scope, cst.ClassDef):
        return _kept_by_object(reads, asked.scope, asked.code)
    roots = roots_of(asked.expression)
    if any(_declares(node, roots) for node in reads.around):
        return None
    bindings = tuple(bindings_of(reads, asked.scope, asked.expression))
    if not bindings:
        return _given(asked.scope, roots)
    paths = [dict(_path(reads, one, asked.scope)) for one in bindings]
    common = [block for block in paths[0] if all(block in path for path in paths)]
    if not common:
        return None
    if any(map(follows_values, bindings)):
        return None
    block = tuple(common[0].body)
    last = max(index_of(path[common[0]], block) for path in paths)
    return Settled(asked.scope, block, last, bindings)


def _given(scope: Scope, roots: set[str]) -> Settled | None:
    """A function's parameter, as its first statement finds it."""
    if not isinstance(scope, cst.FunctionDef) or not isinstance(scope.body, cst.IndentedBlock):
        return None
    block = tuple(scope.body.body)
    last = 0 if len(block) > 1 and _is_docstring(block[0]) else -1
    return Settled(scope, block, last)


def _is_docstring(statement: cst.CSTNode) -> bool:
    match statement:
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.SimpleString())]):
            return True
        case _:
            return False


def _declares(node: cst.CSTNode, roots: set[str]) -> bool:
    """Whether it says that a function changes one of the names."""
    if not isinstance(node, (cst.Global, cst.Nonlocal)):
        return False
    return any(item.name.value in roots for item in node.names)


def _path(
    reads: Reads, node: cst.CSTNode, scope: Scope
) -> Iterator[tuple[cst.IndentedBlock | cst.Module, cst.CSTNode]]:
    """The blocks in which a statement of a scope stands, and where; none where it is elsewhere."""
    found: list[tuple[cst.IndentedBlock | cst.Module, cst.CSTNode]] = []
    child = node
    for parent in around(reads, node):
        if isinstance(parent, (cst.IndentedBlock, cst.Module)):
            found.append((parent, child))
        if parent is scope:
            yield from found
            return
        if isinstance(parent, (*_FUNCTIONS, cst.ClassDef)):
            return
        child = parent


def bindings_of(
    reads: Reads, scope: Scope, expression: cst.BaseExpression
) -> Iterator[cst.CSTNode]:
    """What gives values to the names of an expression in a scope, and to its attributes."""
    roots = roots_of(expression)
    for node in _own(scope):
        if not roots.isdisjoint(_names_bound(node)):
            yield node
    places = {
        reads.code(one)
        for one in descendants(expression)
        if isinstance(one, (cst.Attribute, cst.Subscript))
    }
    for node in reads.around if places else ():
        if any(reads.code(target) in places for target in _targets(node)):
            yield node


def _own(scope: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The code of a scope, without that of functions and classes in it."""
    waiting = children(scope)
    while waiting:
        one = waiting.pop()
        yield one
        if not isinstance(one, (*_FUNCTIONS, cst.ClassDef)):
            waiting.extend(children(one))


def _targets(node: cst.CSTNode) -> tuple[cst.BaseExpression, ...]:
    match node:
        case cst.Assign(targets=targets):
            return tuple(one.target for one in targets)
        case cst.AnnAssign(target=target) | cst.AugAssign(target=target):
            return (target,)
        case cst.For(target=target) | cst.CompFor(target=target) | cst.NamedExpr(target=target):
            return (target,)
        case cst.AsName(name=name):
            return (name,)
        case _:
            return ()


def _names_bound(node: cst.CSTNode) -> set[str]:
    match node:
        case cst.FunctionDef(name=name) | cst.ClassDef(name=name):
            return {name.value}
        case cst.ImportAlias(asname=None):
            return {node.evaluated_name.partition(".")[0]}
        case _:
            return {name for target in _targets(node) for name in names_bound_by(target)}


def _kept_by_object(reads: Reads, scope: cst.ClassDef, code: str) -> Settled | None:
    """`self.use_cuda`, which `__init__` alone gives a value, in a class that reads nothing else."""
    place = code.removeprefix("not ")
    given = [
        node
        for node in descendants(scope)
        if any(reads.code(target) == place for target in _targets(node))
    ]
    if len(given) != 1 or any(last_name(one.value) not in _PLAIN for one in scope.bases):
        return None
    line = reads.around[given[0]]
    block = reads.around.get(line)
    function = None if block is None else reads.around.get(block)
    if not isinstance(block, cst.IndentedBlock) or not isinstance(function, cst.FunctionDef):
        return None
    if function.name.value != "__init__" or not isinstance(line, cst.SimpleStatementLine):
        return None
    body = tuple(block.body)
    return Settled(scope, body, index_of(line, body), (given[0],))


_PLAIN = frozenset({"Module", "object", "Dataset"})
"""Bases that have no attribute `device` of their own."""

"""Where the expressions of a file stand: in which statement, in which function."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import libcst as cst

from devicelint.interpreter.engine.nodes import descendants

_STATEMENTS = (cst.BaseSmallStatement, cst.BaseCompoundStatement)


class Tree:
    """A parsed file, and for each of its expressions what stands around it."""

    def __init__(self, module: cst.Module) -> None:
        self.module = module
        self._statements: dict[cst.CSTNode, cst.CSTNode] = {}
        self._functions: dict[cst.CSTNode, str] = {}
        self._given: dict[cst.CSTNode, cst.Attribute] = {}
        for statement, function in _statements(module, ""):
            self._functions[statement] = function
            for part in _own_parts(statement):
                for node in descendants(part):
                    self._statements[node] = statement
            if isinstance(statement, cst.Assign):
                self._note_attribute(statement)

    @property
    def nodes(self) -> Collection[cst.CSTNode]:
        """All that is part of a statement."""
        return self._statements.keys()

    def statement_of(self, site: cst.CSTNode) -> cst.CSTNode:
        """The statement around an expression; a compound one, where it stands in its head."""
        return self._statements.get(site, site)

    def function_of(self, site: cst.CSTNode) -> str:
        """The function around an expression, such as `Net.forward`; empty where there is none."""
        return self._functions.get(self.statement_of(site), "")

    def attribute_given(self, site: cst.CSTNode) -> cst.Attribute | None:
        """The attribute that is given the value of an expression: `self.hidden = …`."""
        return self._given.get(site)

    def _note_attribute(self, statement: cst.Assign) -> None:
        for one in statement.targets:
            if isinstance(one.target, cst.Attribute):
                self._given[statement.value] = one.target


def _statements(node: cst.CSTNode, function: str) -> Iterator[tuple[cst.CSTNode, str]]:
    """Every statement with the function in which it stands."""
    for child in node.children:
        if isinstance(child, _STATEMENTS):
            yield child, function
        inner = function
        if isinstance(child, (cst.FunctionDef, cst.ClassDef)):
            inner = f"{function}.{child.name.value}" if function else child.name.value
        if not isinstance(child, cst.BaseExpression):
            yield from _statements(child, inner)


def _own_parts(statement: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """What of a statement is not a statement of its own."""
    for child in statement.children:
        if not isinstance(child, _BLOCKS):
            yield child


_BLOCKS = (cst.BaseSuite, cst.Else, cst.ExceptHandler, cst.ExceptStarHandler, cst.Finally)

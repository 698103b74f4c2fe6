"""The code around an event, as a rule may ask for it."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devicelint.domain.history import Site
from devicelint.domain.values import (
    Class,
)
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.nodes import children, descendants
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.mentions import mentions_in, path_of, sets_own
from devicelint.interpreter.facts.name_uses import reads_of
from devicelint.interpreter.facts.training_loops import training_loop
from devicelint.interpreter.facts.type_conversions import says_type_alone
from devicelint.interpreter.suggestions.walk_notes import AttributeAssignments


class CodeAround:
    """The code around an event, as it is written."""

    def __init__(self, run: Run, frame: Frame) -> None:
        self._run = run
        self._frame = frame

    def methods_called_on(self, attribute: str, of_class: str = "") -> Iterator[tuple[str, str]]:
        """What is called on an attribute, or on its data, and of what that is an attribute.

        In the whole file, or in a class and its bases: `("to", "self")` for `self.table.to(d)`.
        What gives it another type of numbers alone, and no device, is left out.
        """
        tops = self._classes(of_class) if of_class else [self._run.module]
        for call in (one for top in tops for one in descendants(top)):
            match call:
                case cst.Call(
                    func=cst.Attribute(
                        value=cst.Attribute(value=cst.Attribute() as held, attr=cst.Name("data"))
                        | (cst.Attribute() as held),
                        attr=cst.Name(method),
                    ),
                    args=given,
                ) if held.attr.value == attribute and not says_type_alone(self._run, given):
                    yield method, path_of(held.value)
                case _:
                    pass

    def methods_that_set(self, name: str, attribute: str) -> Iterator[cst.FunctionDef]:
        """The methods of a class and of its bases that give an attribute a value."""
        for node in self._classes(name):
            for one in descendants(node):
                if isinstance(one, cst.FunctionDef) and sets_own(one, attribute):
                    yield one

    def _classes(self, name: str) -> list[cst.CSTNode]:
        found = [cls for cls in self._run.classes.values() if cls.name == name]
        for cls in found:
            found += [base for base in cls.bases if isinstance(base, Class)]
        return [cls.node for cls in found if isinstance(cls.node, cst.CSTNode)]

    def parent_of(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """The node in which an expression stands."""
        return reads_of(self._run.module).around.get(node)

    def contains(self, outer: Site, inner: Site) -> bool:
        """Whether a place is another one, or stands in it as an argument."""
        if isinstance(outer, cst.WithItem):
            outer = outer.item
        return outer is inner or (
            isinstance(outer, cst.Call) and any(one.value is inner for one in outer.args)
        )

    def encloses(self, outer: Site, inner: Site) -> bool:
        """Whether a place stands anywhere in another one, or is that one."""
        if not isinstance(outer, cst.CSTNode):
            return outer is inner
        return any(node is inner for node in descendants(outer))

    def is_statement(self, expression: Site) -> bool:
        """Whether the expression is all that the current statement does."""
        statement = self._run.frame.statement
        return isinstance(statement, cst.Expr) and statement.value is expression

    def has_statement(self, code: str) -> bool:
        """Whether a line of this function is written so."""
        return any(
            isinstance(one, cst.SimpleStatementLine) and self._run.code_of(one).strip() == code
            for one in descendants(self._frame.node)
        )

    def assignment_to(self, target: Site) -> Site | None:
        """The statement that assigns to a target, where it was walked."""
        return self._run.hearer(AttributeAssignments).statements.get(target)

    def bound_by(self, site: Site) -> Site | None:
        """The statement that gave a name its value, where `site` is a local name."""
        if not isinstance(site, cst.Name):
            return None
        return self._frame.bindings.get(site.value)

    def parts_with(self, call: Site) -> cst.ListComp | cst.DictComp | None:
        """The list or dict that a comprehension makes, in which a call treats each part."""
        around = reads_of(self._run.module).around
        node = around.get(call) if isinstance(call, cst.Call) else None
        while isinstance(node, (cst.BaseExpression, cst.Arg, cst.BaseElement)):
            if isinstance(node, (cst.ListComp, cst.DictComp)):
                return node
            node = around.get(node)
        return None

    def training_loop(self, site: Site) -> Site | None:
        """The head of the innermost loop around, if that trains and gets there in each step."""
        assert isinstance(site, cst.CSTNode)
        loop = training_loop(self._run.module, site)
        return loop.iter if isinstance(loop, cst.For) else getattr(loop, "test", None)

    def given_of(self, name: cst.Name) -> Iterator[tuple[cst.Call, cst.BaseExpression]]:
        """The calls of this function that are given what a name has: `data`, or `data.x` of it."""
        for node in descendants(self._frame.node):
            if not isinstance(node, cst.Name) or node.value != name.value:
                continue
            read: cst.BaseExpression = node
            around = self.parent_of(read)
            while isinstance(around, cst.Attribute) and around.value is read:
                read, around = around, self.parent_of(around)
            while around is not None and not isinstance(around, cst.BaseCompoundStatement):
                inner, around = around, self.parent_of(around)
                if isinstance(inner, cst.Arg) and isinstance(around, cst.Call):
                    yield around, read

    def is_program_without(self, words: frozenset[str]) -> bool:
        """Whether the program is this file, and uses none of these names."""
        run = self._run
        if run.file is not run.program or run.program.also_reported:
            return False
        return not words & mentions_in(run.module).names

    def reads_again(self, name: cst.Name, statement: cst.CSTNode) -> bool:
        """Whether a local name is read after a statement, or elsewhere in the loop around."""
        binding = self._frame.bindings.get(name.value)
        if isinstance(binding, cst.For):
            return _count(binding.body, name.value) > _count(statement, name.value)
        return _is_read_after(self._frame.node, statement, name.value)


def _count(code: cst.CSTNode, name: str) -> int:
    return sum(isinstance(one, cst.Name) and one.value == name for one in _names(code))


def _names(code: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The code below a node as it is written, but for the names of attributes."""
    waiting = [code]
    while waiting:
        one = waiting.pop()
        yield one
        waiting.extend([one.value] if isinstance(one, cst.Attribute) else reversed(children(one)))


def _is_read_after(around: cst.CSTNode, statement: cst.CSTNode, name: str) -> bool:
    """Whether a name stands in a piece of code after a statement of it."""
    nodes = _names(around)
    own = set(descendants(statement))
    for node in nodes:
        if node is statement:
            break
    return any(isinstance(one, cst.Name) and one.value == name and one not in own for one in nodes)

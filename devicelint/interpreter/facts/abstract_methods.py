"""Methods that a class leaves to those that derive from it."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.history import Site
from devicelint.domain.values import Function, Instance, Module, Value
from devicelint.interpreter.engine.nodes import cached_of_nodes
from devicelint.interpreter.engine.objects import OPEN_FIELD
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.name_uses import last_name

_ABSTRACT = frozenset({"abstractmethod", "abstractproperty"})
_LEFT_TO_OTHERS = "NotImplementedError"


def is_overridden(run: Run, receiver: Value | None, member: Value | None) -> bool:
    """Whether a method is another one's: what is walked for its class alone derives from that."""
    if not isinstance(member, Function) or not isinstance(receiver, (Module, Instance)):
        return False
    if run.state.read(receiver.ref, OPEN_FIELD) is None:
        return False
    return is_abstract(member.node)


@cached_of_nodes(1000)
def is_abstract(node: Site) -> bool:
    """Whether a function is declared abstract, or does nothing but raise NotImplementedError."""
    if not isinstance(node, cst.FunctionDef):
        return False
    if any(last_name(one.decorator) in _ABSTRACT for one in node.decorators):
        return True
    statements = [one for line in node.body.body for one in _simple(line)]
    stated = [one for one in statements if not _is_text(one)]
    return len(stated) == 1 and _is_left_to_others(stated[0])


def _simple(line: cst.CSTNode) -> tuple[cst.CSTNode, ...]:
    return tuple(line.body) if isinstance(line, cst.SimpleStatementLine) else (line,)


def _is_text(statement: cst.CSTNode) -> bool:
    strings = (cst.SimpleString, cst.ConcatenatedString)
    return isinstance(statement, cst.Expr) and isinstance(statement.value, strings)


def _is_left_to_others(statement: cst.CSTNode) -> bool:
    if not isinstance(statement, cst.Raise) or statement.exc is None:
        return False
    raised = statement.exc.func if isinstance(statement.exc, cst.Call) else statement.exc
    return last_name(raised) == _LEFT_TO_OTHERS

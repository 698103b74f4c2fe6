"""Questions about the machine whose answer ends the program: they require an accelerator."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devicelint.domain.values import Flag, ImportedName
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.python.paths.endings import ENDING


def ends_without(run: Run, node: cst.If, answer: Flag) -> bool:
    """Whether the branch of a test that is taken where there is no accelerator ends the program."""
    if answer.negated:
        return _ends(run, node.body)
    return isinstance(node.orelse, cst.Else) and _ends(run, node.orelse.body)


def _statements(block: cst.BaseSuite) -> Iterator[cst.CSTNode]:
    for one in block.body:
        if isinstance(one, cst.SimpleStatementLine):
            yield from one.body
        else:
            yield one


def _ends(run: Run, block: cst.BaseSuite) -> bool:
    """Whether a branch ends the program, or at least what runs here."""
    match list(_statements(block)):
        case [*_, cst.Raise()]:
            return True
        case [*_, cst.Expr(value=cst.Call(func=func))]:
            return _name_of(run, func) in ENDING
        case _:
            return False


def _name_of(run: Run, node: cst.BaseExpression) -> str:
    """The full name of what a library or Python itself gives, where this means such a thing."""
    if not isinstance(node, (cst.Name, cst.Attribute)):
        return ""
    with run.muted():
        value = run.evaluate(node)
    return value.name if isinstance(value, ImportedName) else ""

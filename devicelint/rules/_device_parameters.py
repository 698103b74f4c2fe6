"""A device that a function of another file is given by those that call it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import libcst as cst

from devicelint.fixes import AddKeyword, AddParameter, Change, InsertStatement
from devicelint.interpreter.suggestions.device_parameters import NAME, HandedDown


def ways_of(handed: HandedDown) -> Iterator[Change]:
    """What has to change for a device to be handed down."""
    for function in handed.functions:
        yield AddParameter(function, NAME)
    for call, code in handed.calls:
        yield AddKeyword(call, NAME, code)
    for init in handed.keepers:
        anchor, where = _beginning(init)
        yield InsertStatement(anchor, f"self.{NAME} = {NAME}", where)


def told_of(handed: HandedDown) -> str:
    """Which functions get a parameter, for the message of a fix."""
    names = " and ".join(f"{function.name.value}()" for function in handed.functions)
    return f", as a new parameter of {names}" if names else ""


def _beginning(init: cst.FunctionDef) -> tuple[cst.CSTNode, Literal["before", "after"]]:
    """Before the first statement that is neither a docstring nor `super().__init__(…)`."""
    body = init.body.body
    for one in body:
        if not _comes_first(one):
            return one, "before"
    return body[-1], "after"


def _comes_first(statement: cst.CSTNode) -> bool:
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
        return False
    small = statement.body[0]
    if not isinstance(small, cst.Expr):
        return False
    if isinstance(small.value, (cst.SimpleString, cst.ConcatenatedString)):
        return True
    func = small.value.func if isinstance(small.value, cst.Call) else None
    return isinstance(func, cst.Attribute) and func.attr.value == "__init__"

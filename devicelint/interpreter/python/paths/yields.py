"""The order in which a generator yields, where its text tells."""

from __future__ import annotations

import libcst as cst

from devicelint.interpreter.engine.nodes import descendants


def yields_in_order(function: cst.CSTNode, count: int) -> bool:
    """Whether a generator yields so many times, one after the other, on every path."""
    if not isinstance(function, cst.FunctionDef) or count < 2:
        return False
    lines = [one for one in function.body.body if isinstance(one, cst.SimpleStatementLine)]
    here = sum(isinstance(node, cst.Yield) for line in lines for node in descendants(line))
    everywhere = sum(isinstance(node, cst.Yield) for node in descendants(function.body))
    ends = any(isinstance(node, cst.Return) for node in descendants(function.body))
    return here == everywhere == count and not ends

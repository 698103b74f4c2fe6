"""How expressions are written that are made of names, attributes and calls.

Most expressions are whose text is asked for; libcst's code generator takes ten times as long.
"""

from __future__ import annotations

import libcst as cst


def plainly_written(node: cst.CSTNode) -> str | None:
    """The text of an expression; None where there is more to it, such as a line break."""
    tokens: list[str] = []
    return "".join(tokens) if _write(node, tokens) else None


def _write(node: cst.CSTNode, tokens: list[str]) -> bool:
    """Add what an expression generates; whether that is known."""
    if isinstance(node, (cst.Name, cst.Integer, cst.Float, cst.SimpleString)):
        tokens.append(node.value)
        return not node.lpar
    if isinstance(node, cst.Attribute):
        return not node.lpar and _write_attribute(node, tokens)
    return isinstance(node, cst.Call) and not node.lpar and _write_call(node, tokens)


def _write_attribute(node: cst.Attribute, tokens: list[str]) -> bool:
    if not (_write(node.value, tokens) and _blank(node.dot.whitespace_before, tokens)):
        return False
    tokens.append(".")
    return _blank(node.dot.whitespace_after, tokens) and _write(node.attr, tokens)


def _write_call(node: cst.Call, tokens: list[str]) -> bool:
    if not (_write(node.func, tokens) and _blank(node.whitespace_after_func, tokens)):
        return False
    tokens.append("(")
    is_parsed = all(isinstance(one.comma, cst.Comma) for one in node.args[:-1])
    if not (is_parsed and _blank(node.whitespace_before_args, tokens)):
        return False
    known = all(_write_argument(one, tokens) for one in node.args)
    tokens.append(")")
    return known


def _write_argument(given: cst.Arg, tokens: list[str]) -> bool:
    tokens.append(given.star)
    known = _blank(given.whitespace_after_star, tokens)
    if given.keyword is not None:
        known = known and _write_keyword(given.keyword, given.equal, tokens)
    if not (known and _write(given.value, tokens)):
        return False
    if isinstance(given.comma, cst.Comma):
        known = _blank(given.comma.whitespace_before, tokens)
        tokens.append(",")
        known = known and _blank(given.comma.whitespace_after, tokens)
    return known and _blank(given.whitespace_after_arg, tokens)


def _write_keyword(
    keyword: cst.Name, equal: cst.AssignEqual | cst.MaybeSentinel, tokens: list[str]
) -> bool:
    if not isinstance(equal, cst.AssignEqual):
        return False
    tokens.append(keyword.value)
    known = _blank(equal.whitespace_before, tokens)
    tokens.append("=")
    return known and _blank(equal.whitespace_after, tokens)


def _blank(space: cst.BaseParenthesizableWhitespace, tokens: list[str]) -> bool:
    """Add what stands between two parts; whether that is on one line."""
    if not isinstance(space, cst.SimpleWhitespace):
        return False
    tokens.append(space.value)
    return True

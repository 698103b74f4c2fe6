"""Moves that are taken over from the loop that moves what this one does not."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.history import Site, Step, Verb
from devicelint.domain.values import Batch, Value
from devicelint.fixes import InsertStatement, Replace, Rewrite
from devicelint.interpreter.suggestions.context import RuleContext


def moves_parts(context: RuleContext, value: Value, since: Step | None) -> bool:
    """Whether the other loop moves parts of it, one by one: it may be a list, without a `.to()`."""
    if not isinstance(value, Batch) or not value.whole:
        return False
    if since is None or since.verb is not Verb.AGAIN or not isinstance(since.evidence, cst.Call):
        return False
    func = since.evidence.func
    assert isinstance(func, cst.Attribute)
    return (
        isinstance(func.value, cst.Subscript)
        or context.source.parts_with(since.evidence) is not None
    )


def move_parts(
    here: RuleContext, site: Site, since: Step | None, move: str | None
) -> Rewrite | None:
    """`g = [x.to(device) for x in g]`, where the other loop has that for its own."""
    code = None if since is None or move is None else _parts(here, site, since.evidence, move)
    if code is None or not isinstance(site, cst.CSTNode):
        return None
    message = f"Move the parts of `{here.code(site)}` with `{move}`, as the other loop does"
    loop = here.source.bound_by(site)
    if isinstance(loop, cst.For) and isinstance(site, cst.Name):
        first = loop.body.body[0]
        return Rewrite(message, (InsertStatement(first, f"{site.value} = {code}", "before"),))
    return Rewrite(message, (Replace(site, code),))


def _parts(here: RuleContext, site: Site, call: Site, move: str) -> str | None:
    """The other loop's comprehension, over what is here, with the move that is right here."""
    parts = here.source.parts_with(call)
    if parts is None or not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute):
        return None
    over = parts.for_in.iter
    if parts.for_in.ifs or parts.for_in.inner_for_in is not None:
        return None
    if isinstance(over, cst.Name):
        whole = here.code(site)
    elif isinstance(over, cst.Call) and here.code(over).endswith(".items()"):
        whole = f"{here.code(site)}.items()"
    else:
        return None
    moved = f"{here.code(call.func.value)}{move}"
    target = here.code(parts.for_in.target)
    if isinstance(parts, cst.DictComp):
        value = here.code(parts.value).replace(here.code(call), moved)
        return f"{{{here.code(parts.key)}: {value} for {target} in {whole}}}"
    element = here.code(parts.elt).replace(here.code(call), moved)
    return f"[{element} for {target} in {whole}]"

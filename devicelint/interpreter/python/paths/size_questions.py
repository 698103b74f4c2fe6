"""Conditions that ask how large something is: what only stands there until then is replaced.

`if self.grid.shape != x.shape: self.grid = …` keeps what fits.  A tensor of one element or none,
as `torch.zeros(1)`, does not fit.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devicelint.domain.devices import CPU
from devicelint.domain.events import Operand
from devicelint.domain.history import Verb
from devicelint.domain.values import Fact, Tensor
from devicelint.interpreter.engine.nodes import descendants
from devicelint.interpreter.engine.run import Run

SIZE = "how large it is"
_SIZES = frozenset({"shape", "size", "numel", "nelement", "dim", "ndim"})


def size_answers(run: Run, node: cst.BaseExpression, outcome: bool) -> Iterator[Fact]:
    """What a condition has asked the size of, that has come out so."""
    if node not in run.program.sized:
        run.program.sized[node] = tuple(map(run.code_of, _sized(node)))
    for place in run.program.sized[node]:
        yield (SIZE, run.frame, place, node, run.moment), outcome


def _sized(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    for one in descendants(node):
        if isinstance(one, cst.Attribute) and one.attr.value in _SIZES:
            yield one.value


def is_placeholder_here(run: Run, operand: Operand) -> bool:
    """Whether this is what stood for nothing, on a path that has asked for its size."""
    if not _stands_for_nothing(operand) or not isinstance(operand.site, cst.BaseExpression):
        return False
    place = run.code_of(operand.site)
    asked = (one for one in run.state.facts if isinstance(one, tuple) and one[0] == SIZE)
    return any(one[1:3] == (run.frame, place) for one in asked)


def _stands_for_nothing(operand: Operand) -> bool:
    since = operand.since
    if not isinstance(operand.value, Tensor) or operand.device != CPU or since is None:
        return False
    if since.verb is not Verb.CREATED or not isinstance(since.site, cst.Call):
        return False
    sizes = [argument.value for argument in since.site.args if argument.keyword is None]
    return bool(sizes) and all(map(_is_small, sizes))


def _is_small(size: cst.BaseExpression) -> bool:
    match size:
        case cst.Integer(value="0" | "1"):
            return True
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            return all(_is_small(element.value) for element in elements)
        case _:
            return False

"""Conditions that ask how large something is: what only stands there until then is replaced.

`if self.grid.shape != x.shape: self.grid = …` keeps what fits.  A tensor of one element or none,
as `torch.zeros(1)`, does not fit.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TypeAlias, TypeGuard

import libcst as cst

from devicelint.domain.alternatives import cases_of
from devicelint.domain.devices import CPU
from devicelint.domain.events import Operand
from devicelint.domain.history import Verb
from devicelint.domain.values import Tensor, Value
from devicelint.interpreter.engine.nodes import descendants
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.python.paths.device_questions import Answers

SIZE = "how large it is"
_Place: TypeAlias = cst.Name | cst.Attribute | cst.Subscript
"""Where a tensor is kept."""
_SIZES = frozenset({"shape", "size", "numel", "nelement", "dim", "ndim"})


def size_answers(run: Run, node: cst.BaseExpression) -> Answers:
    """What a condition has asked the size of; or a size that was bound."""
    asked = tuple(_questions(run, node))
    return [(one, True) for one in asked], [(one, False) for one in asked]


def _questions(run: Run, node: cst.BaseExpression) -> Iterator[Hashable]:
    for one in _asked(run, node):
        with run.muted():
            value = run.evaluate(one)
        for option, path in cases_of(value):
            if stands_for_nothing(option):
                yield SIZE, option.since.site, path


def _asked(run: Run, node: cst.BaseExpression) -> Iterator[_Place]:
    yield from _sized(run, node)
    for name in _names(node):
        statement = run.frame.bindings.get(name)
        if isinstance(statement, (cst.SimpleStatementLine, cst.BaseSmallStatement)):
            yield from _sized(run, statement)


def _names(node: cst.BaseExpression) -> Iterator[str]:
    """The names that a comparison, or a test by itself, is of."""
    match node:
        case cst.Name(value=name):
            yield name
        case cst.Comparison(left=left, comparisons=others):
            for one in (left, *(other.comparator for other in others)):
                if isinstance(one, cst.Name):
                    yield one.value
        case cst.BooleanOperation(left=left, right=right):
            yield from (*_names(left), *_names(right))
        case _:
            return


def _sized(run: Run, node: cst.CSTNode) -> tuple[_Place, ...]:
    """The names, attributes and items whose size is asked for below a node."""
    known = run.program.sized.get(node)
    if known is None:
        asking = (one for one in descendants(node) if type(one) in _ASKING)
        sized = filter(None, map(_sized_by, asking))
        named = tuple(one for one in sized if isinstance(one, _Place))
        known = run.program.sized[node] = named
    return known


_ASKING = frozenset({cst.Attribute, cst.Call})


def _sized_by(node: cst.CSTNode) -> cst.BaseExpression | None:
    """What `x.shape`, `x.numel()` or `len(x)` asks the size of."""
    match node:
        case cst.Attribute(value=owner, attr=cst.Name(name)) if name in _SIZES:
            return owner
        case cst.Call(func=cst.Name("len"), args=[cst.Arg(given, star="")]):
            return given
        case _:
            return None


def is_placeholder_here(run: Run, operand: Operand) -> bool:
    """Whether this is what stood for nothing, on a path that has asked for its size.

    Or for that of another one, which stands for nothing on this path as well.
    """
    if not stands_for_nothing(operand.value):
        return False
    facts = run.state.facts
    asked = (one for one in facts if isinstance(one, tuple) and one[0] == SIZE)
    return any(
        site == operand.value.since.site or (path and path <= facts.items())
        for _, site, path in asked
    )


def stands_for_nothing(value: Value) -> TypeGuard[Tensor]:
    """Whether a tensor was made on the CPU with one element or none."""
    if not isinstance(value, Tensor) or value.device != CPU:
        return False
    if value.since.verb is not Verb.CREATED or not isinstance(value.since.site, cst.Call):
        return False
    sizes = [argument.value for argument in value.since.site.args if argument.keyword is None]
    return bool(sizes) and all(map(_is_small, sizes))


def _is_small(size: cst.BaseExpression) -> bool:
    match size:
        case cst.Integer(value="0" | "1"):
            return True
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            return all(_is_small(element.value) for element in elements)
        case _:
            return False

"""Operations on tensors."""

from __future__ import annotations

from benchmarks.differential.grammar.registry import feature
from benchmarks.differential.grammar.tensors import a_shape, expression, make, pick, result
from benchmarks.differential.values import Tensor
from benchmarks.differential.writer import Writer


@feature("create", 10)
def create(writer: Writer) -> None:
    """A new tensor."""
    make(writer, Tensor("", a_shape(writer)))


@feature("arithmetic", 14)
def arithmetic(writer: Writer) -> None:
    """An operator between two tensors of a shape."""
    one = pick(writer)
    operator = writer.choose(["+", "*", "-", "/"])
    other = expression(writer, one.shape)
    result(writer, f"{one.text} {operator} {other}", one, grad=True)

"""The tensors that one argument of a call brings."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.values import (
    Array,
    Const,
    DictOf,
    Generator,
    HostObject,
    HostValue,
    ListOf,
    Parameters,
    Stream,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.python.containers.contents import element_of, known_elements
from devicelint.interpreter.python.containers.mixtures import put_on_two
from devicelint.knowledge import Slot


def operand_values(run: Run, argument: Argument, slot: Slot) -> list[Argument]:
    """The tensors that an argument brings: one, or those of a sequence."""
    value = argument.value
    if slot.sequence and isinstance(value, Unknown) and value.symbol is not None:
        return [Argument(argument.site, element_of(run, value, argument.site))]
    if not slot.sequence or not isinstance(value, (ListOf, Tuple, Stream, DictOf, Parameters)):
        return [argument]
    if isinstance(value, Tuple):
        sites = _element_sites(argument.site, len(value.items))
        return [Argument(site, one) for site, one in zip(sites, value.items, strict=True)]
    if isinstance(value, ListOf):
        fields = run.state.fields(value.ref)
        told_apart = [v for n, v in fields.items() if n.startswith("[")]
        site = _element_sites(argument.site, len(told_apart))
        mixed = put_on_two(run, value.ref) if known_elements(run, value) is None else None
        if mixed is not None:
            return [Argument(argument.site, one) for one in mixed]
        if told_apart:
            return [Argument(s, v) for s, v in zip(site, told_apart, strict=True)]
    return [Argument(argument.site, element_of(run, value, argument.site))]


def is_no_tensor(run: Run, value: Value) -> bool:
    """Whether a value is known to hold no tensor: a number, a text, several of these."""
    match value:
        case Const() | HostValue() | HostObject() | Array() | Generator():
            return True
        case Tuple(items):
            return all(is_no_tensor(run, one) for one in items)
        case ListOf(ref):
            return all(is_no_tensor(run, one) for one in run.state.fields(ref).values())
        case _:
            return False


def _element_sites(site: object, count: int) -> list[object]:
    """Where the elements of a sequence stand, where they are written one by one."""
    written = site.elements if isinstance(site, (cst.List, cst.Tuple)) else ()
    if len(written) != count or any(isinstance(each, cst.StarredElement) for each in written):
        return [site] * count
    return [element.value for element in written]

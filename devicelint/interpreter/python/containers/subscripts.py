"""`value[key]`: items of containers, and what a key is."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.alternatives import is_mixed
from devicelint.domain.devices import is_accelerator
from devicelint.domain.values import (
    HOST,
    Array,
    Const,
    DictOf,
    HostObject,
    ImportedName,
    ListOf,
    OneOf,
    Placed,
    ProjectModule,
    Stream,
    Symbolic,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument
from devicelint.interpreter.engine.cases import each, use
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import evaluates, items
from devicelint.interpreter.facts.tensor_parameters import as_proven, prove
from devicelint.interpreter.python.computed_members import NAMESPACE, member_by_name
from devicelint.interpreter.python.containers.contents import element_of, item
from devicelint.interpreter.python.containers.dictionaries import made_for_key
from devicelint.interpreter.python.containers.fields import ELEMENT, is_shared, key_field
from devicelint.interpreter.python.containers.registries import kept_by_others
from devicelint.interpreter.python.containers.sequences import sliced


@evaluates(cst.Subscript)
def subscript(run: Run, node: cst.Subscript) -> Value:
    if isinstance(node.value, cst.Attribute) and node.value.attr.value == NAMESPACE:
        owner = run.evaluate(node.value.value)
        if isinstance(owner, (ImportedName, ProjectModule)):
            return member_by_name(run, owner, _part_of_key(run, node.slice[0].slice))
    return _item_of(run, run.evaluate(node.value), node)


def _item_of(run: Run, value: Value, node: cst.Subscript) -> Value:
    if isinstance(value, OneOf) and is_mixed(value):
        return each(run, value, lambda one: _item_of(run, one, node))
    use(run, value)
    handler = items.get(type(value))
    if handler is not None:
        return handler(run, value, node)
    key_of(run, node)
    return value if value == HOST else Unknown("an item of something unknown")


def key_of(run: Run, node: cst.Subscript) -> Value | None:
    """The key of an item, evaluated: a tuple, where there are several; None for a slice."""
    keys = [_part_of_key(run, element.slice) for element in node.slice]
    told = tuple(one for one in keys if one is not None)
    if len(told) < len(keys):
        return None
    return told[0] if len(told) == 1 else Tuple(told)


def _part_of_key(run: Run, part: cst.BaseSlice) -> Value | None:
    if isinstance(part, cst.Index):
        return run.evaluate(part.value)
    for bound in (part.lower, part.upper, part.step) if isinstance(part, cst.Slice) else ():
        if bound is not None:
            run.evaluate(bound)
    return None


@items(Tuple)
def _item_of_tuple(run: Run, value: Tuple, node: cst.Subscript) -> Value:
    first = node.slice[0].slice
    if isinstance(first, cst.Slice):
        return sliced(run, node, value, first)
    key = key_of(run, node)
    if isinstance(key, Const) and isinstance(key.value, int):
        inside = -len(value.items) <= key.value < len(value.items)
        return value.items[key.value] if inside else Unknown("an index outside the tuple")
    return element_of(run, value, node)


@items(ListOf)
def _item_of_list(run: Run, value: ListOf, node: cst.Subscript) -> Value:
    first = node.slice[0].slice
    if isinstance(first, cst.Slice):
        return sliced(run, node, value, first)
    return _under_key(run, value, node)


@items(DictOf)
def _under_key(run: Run, value: ListOf | DictOf, node: cst.Subscript) -> Value:
    key = key_of(run, node)
    if isinstance(value, DictOf) and key is not None:
        made_for_key(run, value, key, node)
        if _is_missing(run, value, key):
            run.state.dead = True
        kept = kept_by_others(run, value, key)
        if kept is not None:
            return kept
    return item(run, value.ref, HOST if key is None else key)


def _is_missing(run: Run, value: DictOf, key: Value) -> bool:
    """Whether a dict lacks a key for sure, where the code is prepared for that."""
    field, fields = key_field(key), run.state.fields(value.ref)
    if field == ELEMENT or field in fields or ELEMENT in fields or is_shared(run, value.ref):
        return False
    return any(map(run.expects, ("KeyError", "LookupError", "Exception")))


@items(Array, HostObject)
def _item_of_array(run: Run, value: Array | HostObject, node: cst.Subscript) -> Value:
    key_of(run, node)
    return value


@items(Stream)
def _item_of_stream(run: Run, value: Stream, node: cst.Subscript) -> Value:
    key_of(run, node)
    return value.element


def _is_chosen_on_accelerator(key: Value | None) -> bool:
    """Whether items are chosen by what lies on an accelerator: only a tensor takes that."""
    if isinstance(key, Tensor) and key.scalar is not False:
        return False
    return isinstance(key, (Tensor, Placed)) and is_accelerator(key.device)


@items(Symbolic)
def _item_of_outside(run: Run, value: Symbolic, node: cst.Subscript) -> Value:
    if _is_chosen_on_accelerator(key_of(run, node)) and value.since is not None:
        prove(run, value.origin)
        known = as_proven(run, value)
        return items[type(known)](run, known, node) if isinstance(known, Tensor) else known
    place = f"{value.origin}[{run.code_of(node.slice[0])}]"
    return as_proven(run, Symbolic(place, since=value.since))


def under_key(run: Run, value: Symbolic, key: Argument) -> Value:
    """`config.get("device")`, which is `config["device"]` where that is there."""
    if not (isinstance(key.value, Const) and isinstance(key.site, cst.CSTNode)):
        return Unknown(f"{value.origin}.get()")
    place = f"{value.origin}[{run.code_of(key.site)}]"
    return as_proven(run, Symbolic(place, since=value.since))

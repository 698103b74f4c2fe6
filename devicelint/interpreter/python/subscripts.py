"""`value[key]`: items of containers, batches and objects; tensors are `indexing`'s."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devicelint.domain.values import (
    HOST,
    Array,
    Batch,
    Bundle,
    Const,
    Dataset,
    DictOf,
    External,
    HostObject,
    Instance,
    ListOf,
    Loaded,
    Module,
    Moved,
    Outside,
    ProjectModule,
    Stream,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import evaluates
from devicelint.interpreter.facts.tensor_parameters import as_proven
from devicelint.interpreter.libraries.bundles import fresh, item_held
from devicelint.interpreter.python.computed_members import NAMESPACE, member_by_name
from devicelint.interpreter.python.containers import call_special, element_of, item
from devicelint.interpreter.python.sequences import sliced
from devicelint.interpreter.torch.checkpoints import note_key
from devicelint.interpreter.torch.indexing import index_tensor


@evaluates(cst.Subscript)
def subscript(run: Run, node: cst.Subscript) -> Value:
    if isinstance(node.value, cst.Attribute) and node.value.attr.value == NAMESPACE:
        owner = run.evaluate(node.value.value)
        if isinstance(owner, (External, ProjectModule)):
            return member_by_name(run, owner, _key(run, node.slice[0].slice))
    value = run.evaluate(node.value)
    if isinstance(value, (Tensor, Moved)) or (isinstance(value, Batch) and not value.whole):
        return index_tensor(run, node, value)
    first = node.slice[0].slice
    if isinstance(value, (ListOf, Tuple)) and isinstance(first, cst.Slice):
        return sliced(run, node, value, first)
    keys = [_key(run, element.slice) for element in node.slice]
    key = keys[0] if len(keys) == 1 else None
    return _item(run, node, value, key)


def _key(run: Run, part: cst.BaseSlice) -> Value | None:
    if isinstance(part, cst.Index):
        return run.evaluate(part.value)
    for bound in (part.lower, part.upper, part.step) if isinstance(part, cst.Slice) else ():
        if bound is not None:
            run.evaluate(bound)
    return None


def _item(run: Run, node: cst.Subscript, value: Value, key: Value | None) -> Value:
    match value:
        case Tuple() | ListOf() | DictOf() | Module():
            return _item_of_container(run, node, value, key)
        case Batch(since=since):
            named = str(key.value) if isinstance(key, Const) else ""
            return replace(value, since=replace(since, part=named), whole=False)
        case Loaded():
            note_key(run, value, key)
            return value
        case Array() | HostObject():
            return value
        case Dataset() if isinstance(node.slice[0].slice, cst.Slice):
            return value
        case Dataset(Bundle() as element):
            return fresh(run, element, node)
        case Dataset(element) | Stream(element):
            return element
        case Bundle():
            return item_held(run, value, key, node)
        case Instance():
            return call_special(run, value, "__getitem__", HOST if key is None else key)
        case Outside(origin):
            place = f"{origin}[{run.code_of(node.slice[0])}]"
            return as_proven(run, Outside(place, since=value.since))
        case _:
            return HOST if value == HOST else Unknown("an item of something unknown")


def _item_of_container(
    run: Run, node: cst.Subscript, value: Tuple | ListOf | DictOf | Module, key: Value | None
) -> Value:
    if isinstance(value, Tuple):
        if isinstance(key, Const) and isinstance(key.value, int):
            inside = -len(value.items) <= key.value < len(value.items)
            return value.items[key.value] if inside else Unknown("an index outside the tuple")
        return element_of(run, value, node)
    if isinstance(value, Module) and key is None:
        return value
    return item(run, value.ref, HOST if key is None else key)

"""Binding values to targets: names, attributes, items, tuples with a star."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from devicelint.domain.history import Verb
from devicelint.domain.join import join, join_known
from devicelint.domain.values import (
    Batch,
    Bundle,
    Class,
    Const,
    DictOf,
    Instance,
    ListOf,
    Module,
    Moved,
    Outside,
    Stream,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.moved_back import note_bound_again
from devicelint.interpreter.python.containers import (
    ELEMENT,
    LENGTH,
    element_of,
    key_field,
    known_elements,
    mark_shared,
    write_weakly,
)
from devicelint.interpreter.torch.indexing import assign_item
from devicelint.interpreter.torch.modules.registration import register
from devicelint.interpreter.torch.operands import operand_of


def assign(run: Run, target: cst.BaseExpression, value: Value, site: cst.BaseExpression) -> None:
    """Bind a value, which the expression `site` gave, to a target."""
    value = run.guesses.bound(run, target, value)
    match target:
        case cst.Name():
            if isinstance(value, Tensor):
                note_bound_again(run, target.value, value)
            run.bind(target.value, value, target)
            run.steps.assigned(value)
        case cst.Attribute():
            run.steps.assigned(value)
            _assign_attribute(run, target, value, site)
        case cst.Subscript():
            _assign_item(run, target, value, site)
        case cst.Tuple() | cst.List():
            _unpack(run, target, value, site)
        case cst.StarredElement():
            assign(run, target.value, value, site)
        case _:
            pass


def _assign_attribute(
    run: Run, target: cst.Attribute, value: Value, site: cst.BaseExpression
) -> None:
    owner = run.evaluate(target.value)
    name = target.attr.value
    match owner:
        case Module():
            register(run, owner, name, value, target, site)
        case Instance() | Class():
            write_weakly(run, owner.ref, name, value)
        case Bundle():
            run.state.write(owner.ref, name, value)
        case Outside(origin):
            run.state.write(origin, name, value)
        case Tensor() if name == "requires_grad" and value == Const(True):
            for one in _each(run, target.value, owner):
                run.steps.leaf(replace(one, role="leaf"))
        case _:
            pass


def _each(run: Run, target: cst.BaseExpression, owner: Tensor) -> Iterator[Tensor]:
    """The tensor that a name stands for; in a loop over a list, every one of these."""
    bound = run.frame.bindings.get(target.value) if isinstance(target, cst.Name) else None
    elements = known_elements(run, run.evaluate(bound.iter)) if isinstance(bound, cst.For) else None
    yield from (one for one in elements or (owner,) if isinstance(one, Tensor))


def _assign_item(run: Run, target: cst.Subscript, value: Value, site: cst.BaseExpression) -> None:
    owner = run.evaluate(target.value)
    if isinstance(owner, Batch) and (not owner.whole or _is_of_a_tensor(target)):
        assign_item(run, target, owner, operand_of(value, site))
        return
    if isinstance(owner, (Tensor, Moved)):
        assign_item(run, target, owner, operand_of(value, site))
        return
    first = target.slice[0].slice
    key = run.evaluate(first.value) if isinstance(first, cst.Index) else None
    if isinstance(owner, Bundle) and isinstance(key, Const):
        run.state.write(owner.ref, str(key.value), value)
    elif isinstance(owner, (ListOf, DictOf, Module)):
        _write_item(run, owner, key, value)
    elif isinstance(owner, (Batch, Tuple, Stream)) and isinstance(target.value, cst.Name):
        run.bind(target.value.value, _with_item(owner, key, value), target)


def _is_of_a_tensor(target: cst.Subscript) -> bool:
    """`batch[:, 2:]`: only a tensor is sliced in several dimensions."""
    return len(target.slice) > 1 and any(isinstance(one.slice, cst.Slice) for one in target.slice)


def _write_item(run: Run, owner: ListOf | DictOf | Module, key: Value | None, value: Value) -> None:
    field = ELEMENT if key is None else key_field(key)
    if field == ELEMENT:
        if run.frame.loops:
            mark_shared(run, value)
        _write_somewhere(run, owner, value)
        if not isinstance(owner, DictOf):
            run.state.delete(owner.ref, LENGTH)
        return
    write_weakly(run, owner.ref, field, value)


def _write_somewhere(run: Run, owner: ListOf | DictOf | Module, value: Value) -> None:
    """Under a key that is not known: each item is what it was, or is this now."""
    for name, before in tuple(run.state.fields(owner.ref).items()):
        if name.startswith("["):
            run.state.write(owner.ref, name, join_known(before, value))
    joined = join(run.state.read(owner.ref, ELEMENT), value)
    assert joined is not None
    run.state.write(owner.ref, ELEMENT, joined)


def _with_item(owner: Batch | Tuple | Stream, key: Value | None, value: Value) -> Value:
    """A batch of which one item was replaced."""
    if isinstance(owner, Tuple) and isinstance(key, Const) and isinstance(key.value, int):
        items = list(owner.items)
        if -len(items) <= key.value < len(items):
            items[key.value] = value
            return Tuple(tuple(items))
    return Unknown("a batch of which one item was replaced")


def _unpack(run: Run, target: cst.Tuple | cst.List, value: Value, site: cst.BaseExpression) -> None:
    elements = target.elements
    parts = known_elements(run, value)
    sites = _element_sites(site, len(elements))
    if parts is None or any(isinstance(one, cst.StarredElement) for one in elements):
        parts = _parts_by_star(run, elements, value, parts, site)
    if len(parts) != len(elements):
        parts = tuple(Unknown("unpacked into another number of names") for _ in elements)
    for element, part, place in zip(elements, parts, sites, strict=True):
        assign(run, element.value, _named(run, part, element.value), place)


def _parts_by_star(
    run: Run,
    elements: object,
    value: Value,
    parts: tuple[Value, ...] | None,
    site: cst.BaseExpression,
) -> tuple[Value, ...]:
    targets: list[cst.BaseElement] = list(elements)  # type: ignore[call-overload]
    if parts is None:
        return tuple(_part(run, value, position, site) for position in range(len(targets)))
    star = next(i for i, one in enumerate(targets) if isinstance(one, cst.StarredElement))
    after = len(targets) - star - 1
    if len(parts) < len(targets) - 1:
        return ()
    middle = parts[star : len(parts) - after]
    return (*parts[:star], Tuple(tuple(middle)), *parts[len(parts) - after :])


def _part(run: Run, value: Value, position: int, site: cst.BaseExpression) -> Value:
    if isinstance(value, Outside):
        return Outside(f"{value.origin}[{position}]", since=value.since)
    return element_of(run, value, site)


def _named(run: Run, value: Value, target: cst.BaseExpression) -> Value:
    """A part of a batch has its own history from where it gets its name, unless it came whole."""
    if not (isinstance(value, (Batch, Tensor)) and isinstance(target, cst.Name)):
        return value
    if value.since.verb is not Verb.LOADED or value.since in run.frame.passed:
        return value
    return replace(value, since=replace(value.since, site=target))


def _element_sites(site: cst.BaseExpression, count: int) -> list[cst.BaseExpression]:
    if isinstance(site, (cst.Tuple, cst.List)) and len(site.elements) == count:
        return [element.value for element in site.elements]
    return [site] * count

"""Binding values to targets: names, attributes, items, tuples with a star."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import libcst as cst

from devicelint.domain.history import Verb
from devicelint.domain.join import join, join_known
from devicelint.domain.values import (
    Batch,
    Class,
    Const,
    DictOf,
    Function,
    Instance,
    ListOf,
    Located,
    Module,
    Ref,
    Stream,
    Symbolic,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.objects import member_of, setter_of
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import sets_attribute, sets_by_name, sets_item
from devicelint.interpreter.facts.moved_back import note_bound_again
from devicelint.interpreter.python.containers.contents import element_of, known_elements
from devicelint.interpreter.python.containers.fields import (
    ELEMENT,
    LENGTH,
    key_field,
    mark_shared,
    open_settings,
    write_weakly,
)
from devicelint.interpreter.python.containers.mixtures import forget_put
from devicelint.interpreter.python.containers.sequences import replaced_slice
from devicelint.interpreter.python.containers.subscripts import key_of
from devicelint.interpreter.python.functions import call_function
from devicelint.interpreter.python.unseen import part_of


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
    run.stored[target.attr.value] = run.moment
    handler = sets_attribute.get(type(owner))
    if handler is not None:
        handler(run, owner, value, target, site)


@sets_attribute(Instance, Class)
def _set_on_object(
    run: Run,
    owner: Instance | Class,
    value: Value,
    target: cst.Attribute,
    site: cst.BaseExpression,
) -> None:
    name = target.attr.value
    if isinstance(owner, Class) or not set_by_property(run, owner, name, value, site):
        write_weakly(run, owner.ref, name, value)


def set_by_property(
    run: Run, owner: Instance | Module, name: str, value: Value, site: cst.BaseExpression
) -> bool:
    """Let the setter of a property store a value; False where the name is no property."""
    setter = member_of(run, owner.ref, setter_of(name))
    if not isinstance(setter, Function):
        return False
    call_function(run, setter, Arguments([Argument(site, value)]), None, receiver=owner)
    return True


@sets_by_name(Instance, Class)
def _set_by_name(
    run: Run, owner: Instance | Class, name: str | None, value: Value, node: cst.Call
) -> None:
    if name is None:
        write_somewhere(run, owner.ref, value)
    elif not (isinstance(owner, Instance) and set_by_property(run, owner, name, value, node)):
        write_weakly(run, owner.ref, name, value)


def write_somewhere(run: Run, ref: Ref, value: Value) -> None:
    """Something gets a device under a name that is not known: each tensor may be that now."""
    if isinstance(value, (Unknown, Symbolic)):
        open_settings(run, ref)
    for field, before in tuple(run.state.fields(ref).items()):
        if isinstance(before, Located) and isinstance(value, Located):
            run.state.write(ref, field, join_known(before, value))


@sets_attribute(Symbolic)
def _set_outside(
    run: Run, owner: Symbolic, value: Value, target: cst.Attribute, site: cst.BaseExpression
) -> None:
    run.state.write(owner.origin, target.attr.value, value)


def _assign_item(run: Run, target: cst.Subscript, value: Value, site: cst.BaseExpression) -> None:
    owner = run.evaluate(target.value)
    handler = sets_item.get(type(owner))
    if handler is None:
        key_of(run, target)
    else:
        handler(run, owner, value, target, site)


_OF_PARAMETERS = ("torch.nn.ParameterDict", "torch.nn.ParameterList")


@sets_item(ListOf, DictOf, Module)
def _set_in_container(
    run: Run,
    owner: ListOf | DictOf | Module,
    value: Value,
    target: cst.Subscript,
    site: cst.BaseExpression,
) -> None:
    if isinstance(owner, ListOf):
        forget_put(run, owner.ref)
        if replaced_slice(run, owner, target, value):
            return
    key = key_of(run, target)
    field = ELEMENT if key is None else key_field(key)
    if isinstance(value, Tensor) and getattr(owner, "name", "") in _OF_PARAMETERS:
        # What a ParameterList or ParameterDict is given becomes a parameter.
        value = replace(value, role="parameter")
    if field != ELEMENT:
        write_weakly(run, owner.ref, field, value)
        return
    if run.frame.repeats:
        mark_shared(run, value)
    _write_somewhere(run, owner, value)
    if not isinstance(owner, DictOf):
        run.state.delete(owner.ref, LENGTH)


@sets_item(Tuple, Stream)
def _set_in_part(
    run: Run,
    owner: Tuple | Stream,
    value: Value,
    target: cst.Subscript,
    site: cst.BaseExpression,
) -> None:
    key = key_of(run, target)
    if isinstance(target.value, cst.Name):
        run.bind(target.value.value, _with_item(owner, key, value), target)


def _write_somewhere(run: Run, owner: ListOf | DictOf | Module, value: Value) -> None:
    """Under a key that is not known: each item is what it was, or is this now."""
    for name, before in tuple(run.state.fields(owner.ref).items()):
        if name.startswith("["):
            run.state.write(owner.ref, name, join_known(before, value))
    joined = join(run.state.read(owner.ref, ELEMENT), value)
    assert joined is not None
    run.state.write(owner.ref, ELEMENT, joined)


def _with_item(owner: Tuple | Stream, key: Value | None, value: Value) -> Value:
    """A batch of which one item was replaced."""
    if isinstance(owner, Tuple) and isinstance(key, Const) and isinstance(key.value, int):
        items = list(owner.items)
        if -len(items) <= key.value < len(items):
            items[key.value] = value
            return Tuple(tuple(items))
    return Unknown("a batch of which one item was replaced")


def _unpack(run: Run, target: cst.Tuple | cst.List, value: Value, site: cst.BaseExpression) -> None:
    elements = target.elements
    parts = known_elements(run, value) or _around_star(run, site, elements)
    sites = _element_sites(site, len(elements))
    if parts is None or any(isinstance(one, cst.StarredElement) for one in elements):
        parts = _parts_by_star(run, elements, value, parts, site)
    if len(parts) != len(elements):
        parts = tuple(Unknown("unpacked into another number of names") for _ in elements)
    for element, part, place in zip(elements, parts, sites, strict=True):
        assign(run, element.value, _named(run, part, element.value), place)


def _around_star(
    run: Run, site: cst.BaseExpression, targets: Sequence[cst.BaseElement]
) -> tuple[Value, ...] | None:
    """What `a, b, c = *x, y` gives each name, however long `x` would be elsewhere."""
    written = site.elements if isinstance(site, cst.Tuple) else ()
    stars = [i for i, one in enumerate(written) if isinstance(one, cst.StarredElement)]
    between = len(targets) - len(written) + 1
    if len(stars) != 1 or between < 0 or any(isinstance(t, cst.StarredElement) for t in targets):
        return None
    with run.muted():
        values = [run.evaluate(one.value) for one in written]
        inside = element_of(run, values[stars[0]], written[stars[0]].value)
    return (*values[: stars[0]], *[inside] * between, *values[stars[0] + 1 :])


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
    if isinstance(value, Symbolic):
        return Symbolic(f"{value.origin}[{position}]", since=value.since)
    if isinstance(value, Unknown) and value.symbol is not None:
        return part_of(value, f"[{position}]")
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

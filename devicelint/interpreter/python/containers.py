"""Lists, dicts and streams: what they hold and what iterating over them gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from devicelint.domain.history import Site, Verb
from devicelint.domain.join import join, join_known
from devicelint.domain.values import (
    HOST,
    TRUE,
    Array,
    Batch,
    Const,
    Dataset,
    DictOf,
    HostValue,
    ImportedName,
    Instance,
    ListOf,
    Loader,
    Module,
    Parameters,
    Ref,
    Stream,
    Symbolic,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import elements

ELEMENT = "@element"
"""The field of a container that stands for all elements not told apart."""
LENGTH = "@length"

_TOLD_APART = 16
"""How many elements of a list are kept apart."""


def key_field(key: Value) -> str:
    """The field of a container in which the value of a key lies."""
    if isinstance(key, Const) and isinstance(key.value, (str, int)):
        return f"[{key.value!r}]"
    return ELEMENT


SHARED = "@shared"
"""The field that marks one object here as standing for several of the program."""


def mark_shared(run: Run, value: Value) -> None:
    """What a loop or a comprehension puts into a container is made anew each time."""
    if isinstance(value, (ListOf, DictOf, Instance, Module)):
        run.state.write(value.ref, SHARED, TRUE)


def is_shared(run: Run, ref: Ref) -> bool:
    """Whether an object stands for several, so that what happens to it may happen to another."""
    return run.state.read(ref, SHARED) is not None


def write_weakly(run: Run, ref: Ref, name: str, value: Value) -> None:
    """Write a field; where the object stands for several, it may be as it was."""
    before = run.state.read(ref, name) if is_shared(run, ref) else None
    run.state.write(ref, name, value if before is None else join_known(before, value))


def extend(run: Run, ref: Ref, value: Value) -> None:
    """Add an element to a list."""
    if run.frame.loops:
        mark_shared(run, value)
    state = run.state
    length = None if is_shared(run, ref) else _length(run, ref)
    joined = join(state.read(ref, ELEMENT), value)
    assert joined is not None
    state.write(ref, ELEMENT, joined)
    if length is not None and length < _TOLD_APART:
        state.write(ref, f"[{length}]", value)
        state.write(ref, LENGTH, Const(length + 1))


def _length(run: Run, ref: Ref) -> int | None:
    length = run.state.read(ref, LENGTH)
    if length is None:
        fields = run.state.fields(ref)
        return None if ELEMENT in fields or any(name[0] == "[" for name in fields) else 0
    return length.value if isinstance(length, Const) and isinstance(length.value, int) else None


def item(run: Run, ref: Ref, key: Value) -> Value:
    """What lies under a key of a container."""
    field = key_field(key)
    fields = run.state.fields(ref)
    if field in fields:
        return fields[field]
    if isinstance(key, Const) and isinstance(key.value, int) and key.value < 0:
        length = _length(run, ref)
        if length is not None and f"[{length + key.value}]" in fields:
            return fields[f"[{length + key.value}]"]
    return element_in(fields)


def element_in(fields: Mapping[str, Value]) -> Value:
    """All elements of a container, joined."""
    joined: Value | None = None
    for name, value in fields.items():
        if name == ELEMENT or name.startswith("["):
            joined = join(joined, value)
    return Unknown("an element of an empty container") if joined is None else joined


def known_elements(run: Run, value: Value) -> tuple[Value, ...] | None:
    """The elements one by one, where their number is known."""
    if isinstance(value, Tuple):
        return value.items
    if isinstance(value, (ListOf, Module)):
        length = _length(run, value.ref)
        fields = run.state.fields(value.ref)
        if length is not None and all(f"[{i}]" in fields for i in range(length)):
            return tuple(fields[f"[{i}]"] for i in range(length))
    return None


def parts_of(run: Run, value: Value) -> tuple[Value, ...]:
    """What a sequence or a dict holds: one value for all parts, where they have no number."""
    if isinstance(value, DictOf):
        fields = run.state.fields(value.ref)
        return tuple(held for name, held in fields.items() if name == ELEMENT or name[0] == "[")
    return known_elements(run, value) or (element_of(run, value, None),)


def forget_order(run: Run, ref: Ref) -> None:
    """What is in a list is known, and where no longer."""
    fields = run.state.fields(ref)
    if not any(name == ELEMENT or name.startswith("[") for name in fields):
        return
    element = element_in(fields)
    for name in [name for name in fields if name.startswith("[")]:
        run.state.delete(ref, name)
    run.state.write(ref, ELEMENT, element)
    run.state.write(ref, LENGTH, HOST)


def pop(run: Run, value: ListOf, *, last: bool) -> Value:
    """Take an element out of a list."""
    elements = known_elements(run, value)
    if not last or not elements:
        element = element_in(run.state.fields(value.ref))
        forget_order(run, value.ref)
        return element
    run.state.delete(value.ref, f"[{len(elements) - 1}]")
    run.state.delete(value.ref, ELEMENT)
    run.state.write(value.ref, LENGTH, Const(len(elements) - 1))
    if len(elements) > 1:
        run.state.write(value.ref, ELEMENT, _joined(elements[:-1]))
    return elements[-1]


def is_filled(run: Run, value: Value) -> bool:
    """Whether iterating over a value gives at least one element: a loader is taken to."""
    if isinstance(value, Stream):
        return value.filled
    if isinstance(value, ListOf) and "[0]" in run.state.fields(value.ref):
        return True
    if isinstance(value, Parameters):
        return isinstance(value.module, Module)
    return isinstance(value, (Loader, Dataset)) or bool(known_elements(run, value))


def element_of(run: Run, value: Value, site: Site) -> Value:
    """What iterating over a value gives, all elements joined; `site` is where it is iterated."""
    handler = elements.get(type(value))
    if handler is None:
        return Unknown(f"an element of {_named(value)}")
    return handler(run, value, site)


def _named(value: Value) -> str:
    if isinstance(value, Symbolic):
        return value.origin
    return value.name if isinstance(value, ImportedName) else "something unknown"


@elements(Stream)
def _element_of_stream(run: Run, value: Stream, site: Site) -> Value:
    return value.element


@elements(Tuple)
def _element_of_tuple(run: Run, value: Tuple, site: Site) -> Value:
    return _joined(value.items)


@elements(ListOf)
def _element_of_list(run: Run, value: ListOf, site: Site) -> Value:
    return element_in(run.state.fields(value.ref))


@elements(DictOf, HostValue, Const)
def _element_of_host(run: Run, value: Value, site: Site) -> Value:
    return HOST


@elements(Array)
def _element_of_array(run: Run, value: Array, site: Site) -> Value:
    return value


def _joined(items: tuple[Value, ...]) -> Value:
    joined: Value | None = None
    for one in items:
        joined = join(joined, one)
    return Unknown("an element of an empty tuple") if joined is None else joined


def loaded_at(value: Value, site: Site, *, pinned: bool = False) -> Value:
    """The same batch, as it comes out of the loader at this place."""
    match value:
        case Tensor() | Batch() if value.since.verb is Verb.LOADED:
            pins = pinned or value.since.pinned
            return replace(value, since=replace(value.since, site=site, pinned=pins))
        case Tuple(items):
            return Tuple(tuple(loaded_at(one, site, pinned=pinned) for one in items))
        case Stream(element):
            return replace(value, element=loaded_at(element, site, pinned=pinned))
        case _:
            return value

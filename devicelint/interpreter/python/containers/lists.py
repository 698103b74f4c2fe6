"""What changes the order of a list, or how many elements it has."""

from __future__ import annotations

from devicelint.domain.history import Site
from devicelint.domain.values import HOST, Const, DictOf, ListOf, Ref, Value
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.python.containers.contents import (
    element_in,
    element_of,
    extend,
    item,
    known_elements,
)
from devicelint.interpreter.python.containers.fields import ELEMENT, LENGTH, is_shared, key_field
from devicelint.interpreter.python.containers.mixtures import forget_put


def forget_order(run: Run, ref: Ref) -> None:
    """What is in a list is known, and where no longer."""
    forget_put(run, ref)
    fields = run.state.fields(ref)
    if not any(name == ELEMENT or name.startswith("[") for name in fields):
        return
    element = element_in(run, fields)
    for name in [name for name in fields if name.startswith("[")]:
        run.state.delete(ref, name)
    run.state.write(ref, ELEMENT, element)
    run.state.write(ref, LENGTH, HOST)


def extend_by(run: Run, target: ListOf, given: Value, site: Site) -> None:
    """`xs.extend(ys)` and `xs += ys`."""
    elements = known_elements(run, given)
    for one in (element_of(run, given, site),) if elements is None else elements:
        extend(run, target.ref, one)
    if elements is None:
        run.state.write(target.ref, LENGTH, HOST)


def pop(run: Run, value: ListOf, at: Value) -> Value:
    """Take an element out of a list."""
    elements = None if is_shared(run, value.ref) else known_elements(run, value)
    place = at.value if isinstance(at, Const) else None
    if not elements or not isinstance(place, int) or not -len(elements) <= place < len(elements):
        element = item(run, value.ref, at)
        forget_order(run, value.ref)
        return element
    kept = list(elements)
    taken = kept.pop(place)
    put_instead(run, value.ref, kept)
    return taken


def insert(run: Run, value: ListOf, at: Value, element: Value) -> None:
    """Put an element into a list, before the one at a place."""
    elements = None if is_shared(run, value.ref) else known_elements(run, value)
    if elements is None or not isinstance(at, Const) or not isinstance(at.value, int):
        forget_order(run, value.ref)
        extend(run, value.ref, element)
        return
    kept = list(elements)
    kept.insert(at.value, element)
    put_instead(run, value.ref, kept)


def reorder(run: Run, value: ListOf, *, reverse: bool) -> None:
    """Put the elements of a list in another order."""
    elements = known_elements(run, value)
    if elements is None or is_shared(run, value.ref) or not reverse:
        forget_order(run, value.ref)
    else:
        put_instead(run, value.ref, list(reversed(elements)))


def put_instead(run: Run, ref: Ref, kept: list[Value]) -> None:
    """Let a list hold these elements, and no others."""
    forget_put(run, ref)
    for name in [one for one in run.state.fields(ref) if one == ELEMENT or one.startswith("[")]:
        run.state.delete(ref, name)
    run.state.write(ref, LENGTH, Const(0))
    for one in kept:
        extend(run, ref, one)


def delete_item(run: Run, owner: Value, key: Value | None) -> None:
    """`del owner[key]`, where `key` is None for a slice."""
    if isinstance(owner, ListOf):
        pop(run, owner, HOST if key is None else key)
    elif isinstance(owner, DictOf) and key is not None and not is_shared(run, owner.ref):
        name = key_field(key)
        if name != ELEMENT:
            run.state.delete(owner.ref, name)

"""Dicts that a whole file has: what files fill that are imported, and what calls keep in them."""

from __future__ import annotations

from collections.abc import Sequence

from devicelint.domain.values import Class, DictOf, Function, Ref, Tuple, Unknown, Value
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.python.containers.fields import ELEMENT, key_field, parts_in
from devicelint.interpreter.python.imports import enter_imports


def fill_registry(run: Run, ref: Ref, field: str) -> None:
    """See to it that files which fill a registry of another file are walked, if it lacks a key."""
    fields = run.state.fields(ref)
    if "#" in str(ref) and field not in fields and _may_be_registry(parts_in(fields)):
        enter_imports(run)


def _may_be_registry(held: Sequence[Value]) -> bool:
    """Whether a container holds nothing yet, or what is called by its name alone."""
    return all(map(_may_be_entry, held))


def _may_be_entry(value: Value) -> bool:
    """A class or a function, or a pair of one and what is kept with it."""
    held = value.items if isinstance(value, Tuple) else (value,)
    return any(isinstance(one, (Class, Function)) for one in held)


def kept_by_others(run: Run, value: DictOf, key: Value) -> Unknown | None:
    """What lies under a key that is not known in a dict of the whole file; None for other dicts.

    Other calls have filled it, each under its own key: what they kept says nothing of this one.
    What a registry holds was there before any call, and so was what importing another file left.
    """
    if key_field(key) != ELEMENT or run.frame.ref == run.frame.home:
        return None
    fill_registry(run, value.ref, ELEMENT)
    held = parts_in(run.state.fields(value.ref))
    if held and (_may_be_registry(held) or run.state.is_as_adopted(value.ref)):
        return None
    is_global = value in run.state.fields(run.frame.home).values()
    return Unknown("what other calls have kept under keys of their own") if is_global else None

"""The fields of the state in which what a container holds lies."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import NoneType

from devicelint.domain.devices import DEVICE_TYPES, Known
from devicelint.domain.join import join_known
from devicelint.domain.values import (
    TRUE,
    Class,
    Const,
    DeviceHandle,
    DictOf,
    Instance,
    ListOf,
    Module,
    Ref,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.objects import CLASS_FIELD, order_of_bases
from devicelint.interpreter.engine.run import Run

ELEMENT = "@element"
"""The field of a container that stands for all elements not told apart."""
LENGTH = "@length"
PARTS = "@parts"
"""The field of an object that names its attributes in order, where it is a tuple of them."""
GROWN = "@grown"
"""The field that says that a loop has made a list longer, nobody knows how much."""

FACTORY = "@factory"
"""The field of a `defaultdict` that says what makes the values of new keys."""


_TOLD_BY = (str, int)


def key_of_field(name: str) -> Const | Tuple:
    """The key whose value lies in a field."""
    key = ast.literal_eval(name[1:-1])
    return Tuple(tuple(map(Const, key))) if isinstance(key, tuple) else Const(key)


def name_of_field(field: str) -> str | None:
    """The name under which a dict holds what lies in a field; None for another key."""
    return field[2:-2] if field.startswith("['") else None


def is_key_field(name: str) -> bool:
    """Whether a field of a container holds what lies under one key."""
    return name.startswith("[") and not name.startswith("[?")


def key_field(key: Value) -> str:
    """The field of a container in which the value of a key lies."""
    match key:
        case Const(value) if isinstance(value, _TOLD_BY):
            return f"[{value!r}]"
        case Tuple(items) if items and all(map(_is_told, items)):
            return f"[{tuple(one.value for one in items if isinstance(one, Const))!r}]"
        case _:
            return ELEMENT


def _is_told(key: Value) -> bool:
    return isinstance(key, Const) and isinstance(key.value, (*_TOLD_BY, NoneType))


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


def open_settings(run: Run, ref: Ref) -> None:
    """An object gets something under names that nobody knows: which device it names is open.

    The defaults of a program are there to be replaced; a tensor is added to those that there are.
    """
    cls = run.state.read(ref, CLASS_FIELD)
    classes = order_of_bases(cls) if isinstance(cls, Class) else ()
    for owner in (*(one.ref for one in reversed(classes)), ref):
        for name, value in tuple(run.state.fields(owner).items()):
            if names_device(value):
                run.state.write(ref, name, Unknown("may be set under a name that is not known"))


def names_device(value: Value) -> bool:
    """Whether a value is a known device, or the name of one."""
    if isinstance(value, DeviceHandle):
        return isinstance(value.device, Known)
    if not (isinstance(value, Const) and isinstance(value.value, str)):
        return False
    return value.value.partition(":")[0] in DEVICE_TYPES


def parts_in(fields: Mapping[str, Value]) -> list[Value]:
    """What lies in a container, under whatever key."""
    return [one for name, one in fields.items() if name == ELEMENT or name.startswith("[")]

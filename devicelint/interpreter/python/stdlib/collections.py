"""What Python's own library copies, collects values in, and draws them from."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devicelint.domain.values import (
    NONE,
    Const,
    DictOf,
    ImportedName,
    Instance,
    ListOf,
    Partial,
    TensorDict,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import function
from devicelint.interpreter.python.containers.contents import element_of, extend, known_elements
from devicelint.interpreter.python.containers.fields import ELEMENT

_RECORD = "collections.namedtuple()"
"""What stands for the class that `namedtuple` makes."""


@function("collections.deque")
def deque(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """A list, of what it is begun with."""
    made = ListOf(run.allocate(site), site)
    begun = arguments.get(0, "iterable")
    if begun is None or begun.value == NONE:
        return made
    elements = known_elements(run, begun.value)
    for one in (element_of(run, begun.value, begun.site),) if elements is None else elements:
        extend(run, made.ref, one)
    return made


@function("collections.namedtuple")
def named_tuple(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """`namedtuple("Step", ("state", "action"))`: a class whose objects are tuples."""
    fields = arguments.get(1, "field_names")
    names = None if fields is None else _names(run, fields.value)
    if not names or set(arguments.keywords) - {"field_names", "typename"}:
        return Unknown("a namedtuple of unknown fields")
    return Partial(ImportedName(_RECORD), (Tuple(tuple(map(Const, names))),))


def _names(run: Run, fields: Value) -> tuple[str, ...]:
    if isinstance(fields, Const) and isinstance(fields.value, str):
        return tuple(fields.value.replace(",", " ").split())
    elements = known_elements(run, fields) or ()
    named = [one.value for one in elements if isinstance(one, Const)]
    texts = tuple(one for one in named if isinstance(one, str))
    return texts if len(texts) == len(elements) else ()


@function(_RECORD)
def record(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """An object of such a class."""
    fields, *given = arguments.positional
    assert isinstance(fields.value, Tuple)
    names = tuple(str(one.value) for one in fields.value.items if isinstance(one, Const))
    keywords = [arguments.keywords[one].value for one in names if one in arguments.keywords]
    items = (*(one.value for one in given), *keywords)
    if arguments.open or len(items) != len(names):
        return Unknown("a namedtuple of unknown items")
    return Tuple(items, names)


@function("random.sample", "random.choices")
def sample(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """Some of the elements, as a list."""
    if not arguments.positional:
        return Unknown("drawn from something unknown")
    given = arguments.positional[0]
    made = ListOf(run.allocate(site), site)
    run.state.write(made.ref, ELEMENT, element_of(run, given.value, given.site))
    return made


@function("random.choice")
def choice(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """One of the elements."""
    if not arguments.positional:
        return Unknown("drawn from something unknown")
    return element_of(run, arguments.positional[0].value, arguments.positional[0].site)


@function("copy.copy")
def shallow_copy(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """What is put into the copy, or moved in it, stays as it was in the original."""
    given = arguments.get(0, "x")
    if given is None:
        return Unknown("a copy of nothing")
    value = given.value
    if not isinstance(value, (TensorDict, DictOf, Instance, ListOf)):
        return value
    held = tuple(run.state.fields(value.ref).items())
    copied = replace(value, ref=run.allocate(site, f"copy of {value.ref}"))
    for field, one in held:
        run.state.write(copied.ref, field, one)
    return copied

"""The attributes of an object as a dictionary: `vars(self)`, `self.__dict__`, `net._buffers`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from devicelint.domain.history import Site
from devicelint.domain.values import (
    HOST,
    NONE,
    Const,
    DictOf,
    Instance,
    Module,
    Namespace,
    OneOf,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import elements, function, items, methods, sets_item
from devicelint.interpreter.python.assignment import write_somewhere
from devicelint.interpreter.python.calls import arguments_of
from devicelint.interpreter.python.containers.contents import item
from devicelint.interpreter.python.containers.fields import (
    key_field,
    name_of_field,
    open_settings,
    write_weakly,
)
from devicelint.interpreter.python.containers.subscripts import key_of

NAMESPACES = {"__dict__": "", "_parameters": "parameter", "_buffers": "buffer"}
"""The attributes that hold attributes, and the role that a tensor has in them."""


def namespace_of(owner: Module | Instance, name: str = "__dict__") -> Namespace:
    """All that an object holds, or what a Module holds in one role."""
    return Namespace(owner, owner.ref, NAMESPACES[name])


@function("builtins.vars")
def vars_(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """`vars(x)` is `x.__dict__`."""
    given = arguments.positional[0].value if arguments.positional else None
    return namespace_of(given) if isinstance(given, (Module, Instance)) else Unknown(name)


def _held(run: Run, space: Namespace) -> Iterator[tuple[Const, Value]]:
    for name, value in run.state.fields(space.ref).items():
        if name.isidentifier() and _lies_in(space, value):
            yield Const(name), value


def _lies_in(space: Namespace, value: Value) -> bool:
    """Whether it is an attribute of this kind: what a Module registers is not among the others."""
    role = value.role if isinstance(value, Tensor) else ""
    if space.role:
        return role == space.role
    registered = isinstance(value, (Module, OneOf)) or role in ("parameter", "buffer")
    return not (isinstance(space.owner, Module) and registered)


def _put(run: Run, space: Namespace, key: Value | None, value: Value) -> None:
    if not (isinstance(key, Const) and isinstance(key.value, str)):
        write_somewhere(run, space.ref, value)
        return
    if space.role and isinstance(value, Tensor):
        value = replace(value, role=space.role)
    write_weakly(run, space.ref, key.value, value)


@elements(Namespace)
def _name(run: Run, value: Namespace, site: Site) -> Value:
    return HOST


@items(Namespace)
def _attribute(run: Run, value: Namespace, node: cst.Subscript) -> Value:
    return _under(run, value, key_of(run, node))


def _under(run: Run, space: Namespace, key: Value | None) -> Value:
    held = dict(_held(run, space))
    found = held.get(key) if isinstance(key, Const) else None
    return found or Unknown("an attribute by a computed name")


@sets_item(Namespace)
def _set_attribute(
    run: Run, owner: Namespace, value: Value, target: cst.Subscript, site: cst.BaseExpression
) -> None:
    _put(run, owner, key_of(run, target), value)


@methods(Namespace)
def method_of_namespace(run: Run, receiver: Namespace, name: str, node: cst.Call) -> Value:
    """A dictionary's methods."""
    arguments = arguments_of(run, node)
    held = tuple(_held(run, receiver))
    match name:
        case "items":
            return Tuple(tuple(Tuple(pair) for pair in held))
        case "keys":
            return Tuple(tuple(key for key, _ in held))
        case "values":
            return Tuple(tuple(value for _, value in held))
        case "get" | "pop" if arguments.positional:
            return _under(run, receiver, arguments.positional[0].value)
        case "copy":
            return _copy(run, held, node)
        case "update":
            _update(run, receiver, arguments)
            return NONE
        case _:
            return Unknown(f"vars().{name}()")


def _copy(run: Run, held: tuple[tuple[Const, Value], ...], node: cst.Call) -> Value:
    ref = run.allocate(node)
    for key, value in held:
        run.state.write(ref, key_field(key), value)
    return DictOf(ref, node)


def _update(run: Run, space: Namespace, arguments: Arguments) -> None:
    for argument in arguments.positional:
        given = argument.value
        if not isinstance(given, (DictOf, Namespace)):
            open_settings(run, space.ref)
        for field in tuple(run.state.fields(given.ref)) if isinstance(given, DictOf) else ():
            name = name_of_field(field)
            if name is not None:
                assert isinstance(given, DictOf)
                _put(run, space, Const(name), item(run, given.ref, Const(name)))
    for name, argument in arguments.keywords.items():
        _put(run, space, Const(name), argument.value)

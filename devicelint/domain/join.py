"""The value that comes out of two paths.

`join` is commutative, associative and idempotent up to the reasons of `Unknown`.  A missing value
is None where a name is bound on one path only: the other path cannot go on to use it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from devicelint.domain.devices import join_devices
from devicelint.domain.values import (
    FALSE,
    HOST,
    NONE,
    TRUE,
    Array,
    Batch,
    Class,
    Const,
    DeviceHandle,
    Distribution,
    Flag,
    Function,
    HostValue,
    Instance,
    ListOf,
    Loader,
    Module,
    OneOf,
    Placed,
    Reference,
    Stream,
    Symbolic,
    Tensor,
    Tuple,
    Unknown,
    Value,
)

_HOST = (Const, HostValue, Flag)
MOST_OPTIONS = 4
OBJECTS = (Class, Function, Module)
"""What each path may leave one of, and what is then asked of all of them."""
_ABSENT = (FALSE, Const(0), Const(0.0))
"""What says that there is no such layer, as None would: `self.drop = 0.0`."""


def join(one: Value | None, other: Value | None) -> Value | None:
    """The value on either of two paths."""
    if one is other or one == other or other is None:
        return one
    if one is None:
        return other
    if isinstance(one, Unknown) or isinstance(other, Unknown):
        return join_with_unknown(one, other)
    if isinstance(one, OneOf) or isinstance(other, OneOf):
        return _join_several(one, other)
    if NONE in (one, other):
        return other if one == NONE else one
    if type(one) is type(other):
        return _join_alike(one, other)
    return _join_unlike(one, other)


def join_with_unknown(one: Value, other: Value) -> Unknown:
    """Nothing is known of both, but where they are, should one path have used it as a tensor."""
    unknown = one if isinstance(one, Unknown) else other
    assert isinstance(unknown, Unknown)
    used = other if unknown is one else one
    symbol = unknown.symbol
    if symbol is not None and isinstance(used, Tensor) and used.device == symbol.device:
        return unknown
    return Unknown(unknown.reason)


def join_known(one: Value, other: Value) -> Value:
    """`join` of two values that both are there."""
    joined = join(one, other)
    assert joined is not None
    return joined


def _join_alike(one: Value, other: Value) -> Value:
    match one, other:
        case Tensor(), Tensor():
            return _join_tensors(one, other)
        case (Const(), Const()) | (HostValue(), HostValue()):
            return HOST
        case DeviceHandle(), DeviceHandle():
            return replace(one, device=join_devices(one.device, other.device), literal=False)
        case Distribution(), Distribution():
            scalar = one.scalar if one.scalar == other.scalar else None
            return replace(one, device=join_devices(one.device, other.device), scalar=scalar)
        case Batch(), Batch():
            return replace(one, device=join_devices(one.device, other.device))
        case Placed(), Placed():
            return replace(one, device=join_devices(one.device, other.device), origin="")
        case Flag(), Flag():
            return HOST
        case (Module(), Module()) | (Function(), Function()) | (Class(), Class()):
            return _one_of(one, other)
        case _:
            return _join_containers(one, other)


def _join_containers(one: Value, other: Value) -> Value:
    match one, other:
        case Tuple(), Tuple() if len(one.items) == len(other.items):
            names = one.names if one.names == other.names else ()
            return Tuple(tuple(map(join_known, one.items, other.items)), names)
        case Stream(), Stream():
            return _join_streams(one, other)
        case Loader(), Loader():
            item = join_known(one.item, other.item)
            return replace(one, item=item, pinned=one.pinned and other.pinned)
        case _:
            return _join_references(one, other)


def _join_streams(one: Stream, other: Stream) -> Stream:
    alike = len(one.parts) == len(other.parts)
    return Stream(
        join_known(one.element, other.element),
        one.filled and other.filled,
        tuple(map(join_known, one.parts, other.parts)) if alike else (),
        one.first if one.first == other.first else None,
    )


def _join_references(one: Value, other: Value) -> Value:
    if not isinstance(one, Reference) or not isinstance(other, Reference) or one.way != other.way:
        return Unknown("differs by the path taken")
    held = join_known(one.held, other.held)
    return Reference(held, one.way, one.is_away and other.is_away)


def _join_tensors(one: Tensor, other: Tensor) -> Tensor:
    return Tensor(
        join_devices(one.device, other.device),
        one.since,
        one.scalar if one.scalar == other.scalar else None,
        one.grad if one.grad == other.grad else None,
        _join_roles(one.role, other.role),
        min(one.least, other.least),
        one.home if one.home == other.home else None,
    )


def _join_roles(one: str, other: str) -> str:
    """A parameter or a buffer, by the path taken, follows its Module all the same.

    What is a plain tensor on the other path follows it on one path only.
    """
    if one == other:
        return one
    owned = {one, other} & {"parameter", "buffer"}
    if len(owned) == 2:
        return "buffer"
    return "either" if owned or "either" in (one, other) else ""


def _join_unlike(one: Value, other: Value) -> Value:
    if isinstance(one, _HOST) and isinstance(other, _HOST):
        return HOST
    for host, value in ((one, other), (other, one)):
        if isinstance(host, _HOST) and isinstance(value, Tensor):
            return replace(value, scalar=None) if value.scalar is False else value
        if isinstance(host, _HOST) and isinstance(value, Array):
            return value
        if isinstance(host, HostValue) and isinstance(value, ListOf):
            return value
        if host in _ABSENT and isinstance(value, Module):
            return value
        if is_number(host) and isinstance(value, Symbolic) and value.since is not None:
            return value
    return Unknown("differs by the path taken")


def is_number(value: Value) -> bool:
    """Whether a value is a number, which what comes from outside may be as well."""
    if isinstance(value, Const):
        return type(value.value) in (int, float)
    return isinstance(value, HostValue)


def _join_several(one: Value, other: Value) -> Value:
    """What is one of several objects stays that; other alternatives come to one value."""
    options = (*_options(one), *_options(other))
    objects = [option for option in options if isinstance(option, OBJECTS)]
    if objects:
        rest = [option for option in options if option != NONE and option not in _ABSENT]
        return _several(objects) if len(rest) == len(objects) else Unknown("differs by the path")
    if all(isinstance(option, Instance) for option in options):
        # One object more may have been put in: what was one of these before is one of them.
        wider = max(one, other, key=lambda value: len(_options(value)))
        return wider if set(options) == set(_options(wider)) else Unknown("differs by the path")
    joined: Value | None = None
    for option in options:
        joined = join(joined, option)
    assert joined is not None
    return joined


def _one_of(one: Value, other: Value) -> Value:
    return _several((*_options(one), *_options(other)))


def _several(objects: Iterable[Value]) -> Value:
    options = dict.fromkeys(objects)
    if len(options) > MOST_OPTIONS:
        return Unknown("one of too many objects")
    return OneOf(tuple(sorted(options, key=order_of)))


def order_of(value: Value) -> tuple[str, ...]:
    """What sorts alternatives, so that the order of two paths does not matter."""
    if isinstance(value, Tuple):
        inside = tuple(word for item in value.items for word in order_of(item))
        return (type(value).__name__, str(len(value.items)), *inside)
    parts = (getattr(value, name, "") for name in _ORDERED_BY)
    return (type(value).__name__, *map(str, parts))


_ORDERED_BY = ("ref", "name", "scope", "device", "scalar", "grad", "role", "element")


def _options(value: Value) -> tuple[Value, ...]:
    return value.options if isinstance(value, OneOf) else (value,)


def as_bool(value: bool) -> Const:
    """The constant True or False."""
    return TRUE if value else FALSE

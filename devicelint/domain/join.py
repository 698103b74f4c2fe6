"""The value that comes out of two paths.

`join` is commutative, associative and idempotent up to the reasons of `Unknown`.  A missing value
is None where a name is bound on one path only: the other path cannot go on to use it.
"""

from __future__ import annotations

from dataclasses import replace

from devicelint.domain.devices import join_devices
from devicelint.domain.values import (
    FALSE,
    HOST,
    NONE,
    TRUE,
    Array,
    Batch,
    Const,
    DeviceHandle,
    Distribution,
    Flag,
    Function,
    HostValue,
    ListOf,
    Loader,
    Module,
    OneOf,
    Placed,
    Reference,
    Stream,
    Tensor,
    Tuple,
    Unknown,
    Value,
)

_HOST = (Const, HostValue, Flag)
_MOST_OPTIONS = 4
_ABSENT = (FALSE, Const(0), Const(0.0))
"""What says that there is no such layer, as None would: `self.drop = 0.0`."""


def join(one: Value | None, other: Value | None) -> Value | None:
    """The value on either of two paths."""
    if one is other or one == other or other is None:
        return one
    if one is None:
        return other
    for value in (one, other):
        if isinstance(value, Unknown):
            return Unknown(value.reason)
    if NONE in (one, other):
        return other if one == NONE else one
    if type(one) is type(other):
        return _join_alike(one, other)
    return _join_unlike(one, other)


def join_known(one: Value, other: Value) -> Value:
    """`join` of two values that both are there."""
    joined = join(one, other)
    assert joined is not None
    return joined


def _join_alike(one: Value, other: Value) -> Value:
    match one, other:
        case Tensor(), Tensor():
            return _join_tensors(one, other)
        case Const(), Const():
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
        case (Module(), Module()) | (OneOf(), OneOf()) | (Function(), Function()):
            return _one_of(one, other)
        case _:
            return _join_containers(one, other)


def _join_containers(one: Value, other: Value) -> Value:
    match one, other:
        case Tuple(), Tuple() if len(one.items) == len(other.items):
            names = one.names if one.names == other.names else ()
            return Tuple(tuple(map(join_known, one.items, other.items)), names)
        case Stream(), Stream():
            filled = one.filled and other.filled
            return Stream(join_known(one.element, other.element), filled)
        case Loader(), Loader():
            item = join_known(one.item, other.item)
            return replace(one, item=item, pinned=one.pinned and other.pinned)
        case _:
            return _join_references(one, other)


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
        one.is_matrix and other.is_matrix,
        one.home if one.home == other.home else None,
    )


def _join_roles(one: str, other: str) -> str:
    """A parameter or a buffer, by the path taken, follows its Module all the same."""
    if one == other:
        return one
    return "buffer" if {one, other} == {"parameter", "buffer"} else ""


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
        if host in _ABSENT and isinstance(value, (Module, OneOf)):
            return value
    if isinstance(one, (Module, OneOf)) and isinstance(other, (Module, OneOf)):
        return _one_of(one, other)
    return Unknown("differs by the path taken")


def _one_of(one: Value, other: Value) -> Value:
    options = {**dict.fromkeys(_options(one)), **dict.fromkeys(_options(other))}
    if len(options) > _MOST_OPTIONS:
        return Unknown("one of too many objects")
    return OneOf(tuple(sorted(options, key=repr)))


def _options(value: Value) -> tuple[Value, ...]:
    return value.options if isinstance(value, OneOf) else (value,)


def as_bool(value: bool) -> Const:
    """The constant True or False."""
    return TRUE if value else FALSE

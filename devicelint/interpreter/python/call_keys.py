"""What the result of a call depends on, so that it is known when it is made again."""

from __future__ import annotations

from collections.abc import Iterator

from devicelint.domain.state import DEVICE_FIELD
from devicelint.domain.values import (
    Const,
    DeviceHandle,
    DictOf,
    Function,
    HostValue,
    Instance,
    ListOf,
    Module,
    Placed,
    Ref,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.run import Run


def key_of(
    run: Run, function: Function, receiver: Value | None, arguments: Arguments
) -> tuple[object, ...]:
    """What the result of a call depends on, and whether somebody hears what happens in it.

    On a path that has failed before, the call cannot fail any more.
    """
    is_unheard = run.muted_parts > 0 and function.home in run.program.also_reported
    parts = _parts_of(run, receiver)
    return (function.node, is_unheard, run.state.failed, receiver, parts, *arguments.values())


def is_plain(value: Value) -> bool:
    """Whether a value is all there is to it: nothing of it lies in the state."""
    if isinstance(value, Tuple):
        return all(map(is_plain, value.items))
    return isinstance(value, (Tensor, DeviceHandle, Const, HostValue, Unknown))


def place_of(run: Run, receiver: Value | None) -> Value | None:
    """Where a Module is: its methods give something else when it has moved."""
    return run.state.read(receiver.ref, DEVICE_FIELD) if isinstance(receiver, Module) else None


def _parts_of(run: Run, receiver: Value | None) -> tuple[object, ...]:
    """What an object holds, and where it is: its methods give something else once that changes."""
    if not isinstance(receiver, (Instance, Module)):
        return ()
    return tuple(_held_in(run, receiver.ref, _DEEPEST))


def _held_in(run: Run, ref: Ref, depth: int) -> Iterator[object]:
    for name, one in run.state.fields(ref).items():
        if type(one) in _HELD:
            yield name, one
        elif depth and isinstance(one, (ListOf, DictOf)):
            yield name, one, tuple(_held_in(run, one.ref, depth - 1))


_HELD = frozenset({Placed, Tensor, DeviceHandle, Const})
_DEEPEST = 2

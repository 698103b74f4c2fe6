"""What the result of a call depends on, so that it is known when it is made again."""

from __future__ import annotations

from devicelint.domain.state import DEVICE_FIELD
from devicelint.domain.values import (
    Const,
    DeviceHandle,
    Function,
    HostValue,
    Module,
    Placed,
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
    """What the result of a call depends on."""
    place, parts = place_of(run, receiver), _parts_of(run, receiver)
    return (function.node, receiver, place, parts, *arguments.values())


def is_plain(value: Value) -> bool:
    """Whether a value is all there is to it: nothing of it lies in the state."""
    if isinstance(value, Tuple):
        return all(map(is_plain, value.items))
    return isinstance(value, (Tensor, DeviceHandle, Const, HostValue, Unknown))


def place_of(run: Run, receiver: Value | None) -> Value | None:
    """Where a Module is: its methods give something else when it has moved."""
    return run.state.read(receiver.ref, DEVICE_FIELD) if isinstance(receiver, Module) else None


def _parts_of(run: Run, receiver: Value | None) -> tuple[Value, ...]:
    """Where the parts of a Module are that nobody has seen built."""
    if not isinstance(receiver, Module):
        return ()
    held = run.state.fields(receiver.ref).items()
    return tuple(one for name, one in held if isinstance(one, Placed) and name != DEVICE_FIELD)

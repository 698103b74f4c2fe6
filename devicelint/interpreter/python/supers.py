"""`super().method(…)`: the method of the next class, in the object's order, that has it."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devicelint.domain.values import (
    NONE,
    Class,
    Function,
    Super,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.objects import CLASS_FIELD
from devicelint.interpreter.engine.resolution_order import resolution_order
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import begins, inherited, methods
from devicelint.interpreter.python.calls import arguments_of
from devicelint.interpreter.python.functions import call_function


@methods(Super)
def method_of_super(run: Run, receiver: Super, name: str, node: cst.Call) -> Value:
    inner = receiver.receiver
    cls = _class_around(run, receiver)
    for base in _after(run, receiver, cls):
        member = run.state.read(base.ref, name)
        if isinstance(member, Function):
            arguments = arguments_of(run, node)
            return call_function(run, member, arguments, node, receiver=inner)
    if name == "__init__":
        arguments = arguments_of(run, node)
        begin = begins.get(type(inner))
        if begin is not None:
            begin(run, inner, _class_of(run, receiver), arguments, node)
        return NONE
    arguments = arguments_of(run, node)
    handler = inherited.get(type(inner))
    if handler is not None:
        return handler(run, inner, name, arguments, node)
    return Unknown(f"super().{name}()")


def _class_of(run: Run, receiver: Super) -> Class | None:
    """The class of the object itself."""
    ref = getattr(receiver.receiver, "ref", None)
    cls = run.state.read(ref, CLASS_FIELD) if ref is not None else None
    return cls if isinstance(cls, Class) else None


def _class_around(run: Run, receiver: Super) -> Class | None:
    """The class in whose body the method stands, which need not be the object's own."""
    own = _class_of(run, receiver)
    if own is None:
        return None
    return next((one for one in resolution_order(own) if one.ref == receiver.owner), own)


def _after(run: Run, receiver: Super, around: Class | None) -> Iterator[Class]:
    """The classes that are asked after the one in whose body the method stands."""
    own = _class_of(run, receiver)
    waiting = resolution_order(own) if own is not None else iter(())
    for one in waiting:
        if one == around:
            break
    yield from waiting

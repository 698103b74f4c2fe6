"""`super().method(…)`: the method of the first base in the file that has it."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.values import (
    NONE,
    Class,
    Function,
    Super,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.objects import CLASS_FIELD, order_of_bases
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import begins, inherited, methods
from devicelint.interpreter.python.calls import arguments_of
from devicelint.interpreter.python.functions import call_function


@methods(Super)
def method_of_super(run: Run, receiver: Super, name: str, node: cst.Call) -> Value:
    inner = receiver.receiver
    cls = _class_around(run, receiver)
    for base in _bases_after(run, receiver, cls):
        member = run.state.read(base.ref, name)
        if isinstance(member, Function):
            arguments = arguments_of(run, node)
            return call_function(run, member, arguments, node, receiver=inner)
    if name == "__init__":
        arguments = arguments_of(run, node)
        begin = begins.get(type(inner))
        if begin is not None:
            begin(run, inner, cls, arguments, node)
        return NONE
    arguments = arguments_of(run, node)
    handler = inherited.get(type(inner))
    if handler is not None:
        return handler(run, inner, name, arguments, node)
    return Unknown(f"super().{name}()")


def _bases_after(run: Run, receiver: Super, cls: Class | None) -> tuple[Class, ...]:
    """The classes that come after the one around, seen from the class of the object itself."""
    ref = getattr(receiver.receiver, "ref", None)
    own = run.state.read(ref, CLASS_FIELD) if ref is not None else None
    if not isinstance(own, Class) or cls is None:
        return ()
    order = order_of_bases(own)
    return order[order.index(cls) + 1 :] if cls in order else order_of_bases(cls)[1:]


def _class_around(run: Run, receiver: Super) -> Class | None:
    """The class in whose body the method stands, which need not be the object's own."""
    inner = receiver.receiver
    ref = getattr(inner, "ref", None)
    cls = run.state.read(ref, CLASS_FIELD) if ref is not None else None
    return _find(cls, receiver.owner) if isinstance(cls, Class) else None


def _find(cls: Class, owner: object) -> Class | None:
    if owner is None or cls.ref == owner:
        return cls
    for base in cls.bases:
        if isinstance(base, Class):
            found = _find(base, owner)
            if found is not None:
                return found
    return cls

"""What an attribute of a module is taken for, in the words of the recorder."""

from __future__ import annotations

from devicelint.domain.values import (
    Array,
    Batch,
    Const,
    DictOf,
    Distribution,
    Flag,
    HostObject,
    HostValue,
    ListOf,
    Module,
    OneOf,
    Tensor,
    TensorDict,
    Tuple,
    Value,
)
from devicelint.interpreter.engine.run import Run

UNKNOWN = "unknown"


def kinds_of(run: Run, value: Value) -> frozenset[str]:
    """What an attribute with this value is, or may be."""
    match value:
        case OneOf(options):
            return frozenset[str]().union(*(kinds_of(run, one) for one in options))
        case Tensor(role="parameter" | "buffer" as role):
            return frozenset({role})
        case Tensor() | Batch() | Distribution() | TensorDict():
            return frozenset({"plain tensor"})
        case Module():
            return frozenset({"module"})
        case ListOf(ref) | DictOf(ref):
            return _held(run, list(run.state.fields(ref).values()))
        case Tuple(items):
            return _held(run, list(items))
        case Const(None):
            return frozenset({"None"})
        case Const() | HostValue() | Flag() | Array() | HostObject():
            return frozenset({"a value of the host"})
        case _:
            return frozenset({UNKNOWN})


def _held(run: Run, values: list[Value]) -> frozenset[str]:
    kinds = frozenset[str]().union(*(kinds_of(run, one) for one in values))
    if kinds <= {"a value of the host", "None"}:
        return frozenset({"a list of other things"})
    if "module" in kinds or "list of modules" in kinds:
        return frozenset({"list of modules"})
    return frozenset({UNKNOWN if UNKNOWN in kinds else "list of tensors"})

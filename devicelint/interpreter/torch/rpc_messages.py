"""What becomes of a value that is sent to another process."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devicelint.domain.devices import CPU
from devicelint.domain.history import Step, Verb
from devicelint.domain.state import DEVICE_FIELD
from devicelint.domain.values import (
    Batch,
    Bundle,
    DictOf,
    Instance,
    ListOf,
    Module,
    Moved,
    Ref,
    Reference,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.objects import module_device
from devicelint.interpreter.engine.run import Run


def copied(run: Run, value: Value, site: cst.Call) -> Value:
    """A copy, with all that it holds; where a tensor of an accelerator arrives is not known."""
    return _copied(run, value, site, {})


def _copied(run: Run, value: Value, site: cst.Call, made: dict[Ref, Value]) -> Value:
    match value:
        case Tensor() | Batch() | Moved():
            return _arrived(value, site)
        case Tuple():
            return Tuple(tuple(_copied(run, one, site, made) for one in value.items))
        case Module() if module_device(run, value).device != CPU:
            return Unknown("a module sent from an accelerator")
        case ListOf() | DictOf() | Instance() | Module():
            return made.get(value.ref) or _copy_of(run, value, site, made)
        case Reference():
            held = value.held
            if isinstance(held, (Tensor, Batch, Moved)) and held.device == CPU:
                held = _arrived(held, site)
            return replace(value, held=held, is_away=False)
        case Bundle():
            return Unknown("a copy of an object of a library")
        case _:
            return value


def _arrived(value: Tensor | Batch | Moved, site: cst.Call) -> Value:
    if value.device != CPU:
        return Unknown("sent from an accelerator")
    if isinstance(value, Tensor) and value.role:
        return value
    return replace(value, since=Step(Verb.SENT, site, CPU))


def _copy_of(
    run: Run,
    value: ListOf | DictOf | Instance | Module,
    site: cst.Call,
    made: dict[Ref, Value],
) -> Value:
    copy = replace(value, ref=run.allocate(site, f"sent copy of {value.ref}"))
    made[value.ref] = copy
    for name, held in tuple(run.state.fields(value.ref).items()):
        kept = name == DEVICE_FIELD
        run.state.write(copy.ref, name, held if kept else _copied(run, held, site, made))
    return copy

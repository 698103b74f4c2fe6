"""Values brought to a device whole: tensors, and all that lists, dicts and tuples hold."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devicelint.domain.history import Step
from devicelint.domain.values import (
    Batch,
    DictOf,
    ListOf,
    Loader,
    Module,
    OneOf,
    Placed,
    Symbolic,
    Tensor,
    TensorDict,
    Tuple,
    Value,
)
from devicelint.interpreter.engine.objects import fresh
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.torch.bundles import move_bundle
from devicelint.interpreter.torch.modules.registration import move_module


def place(run: Run, value: Value, step: Step, site: cst.CSTNode) -> Value:
    """A value after a library has brought it to a device; a module is moved in place."""
    match value:
        case Module() | OneOf():
            move_module(run, value, step.device, step)
            return value
        case Tensor() | Batch() | Placed():
            return replace(value, device=step.device, since=step)
        case TensorDict():
            moved = fresh(run, value, site)
            move_bundle(run, moved, step.device, step)
            return moved
        case Loader(item):
            return replace(value, item=place(run, item, step, site))
        case Tuple(items):
            return Tuple(tuple(place(run, one, step, site) for one in items))
        case ListOf() | DictOf():
            return _copied(run, value, step, site)
        case Symbolic(origin):
            return Placed(step.device, step, origin)
        case _:
            return value


def _copied(run: Run, value: ListOf | DictOf, step: Step, site: cst.CSTNode) -> Value:
    """A list or dict like it, of what was moved."""
    held = tuple(run.state.fields(value.ref).items())
    ref = run.allocate(site, f"placed {value.ref}")
    for name, one in held:
        run.state.write(ref, name, place(run, one, step, site))
    return replace(value, ref=ref)

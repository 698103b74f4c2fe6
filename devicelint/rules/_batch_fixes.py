"""Batches of several tensors, moved whole: lists, dicts, and whatever they hold."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.alternatives import cases_of
from devicelint.domain.values import (
    HOST,
    Batch,
    DictOf,
    ListOf,
    Module,
    Placed,
    Stream,
    Symbolic,
    Tensor,
    TensorDict,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.suggestions.context import RuleContext

_MOVE = (Tensor, Batch, Placed, Unknown, Symbolic)
"""What may be a tensor, and is moved like one."""
_ITEMS = ("item", "part", "inner")


_CONTAINERS = (DictOf, ListOf, Tuple, Stream)


def has_move(value: Value) -> bool:
    """Whether something has a `.to()`: a list has none, nor has a probability distribution."""
    return all(isinstance(one, (*_MOVE, Module, TensorDict)) for one, _ in cases_of(value))


def is_held_elsewhere(here: RuleContext, name: cst.Name) -> bool:
    """Whether an object of a library holds a graph or its tensors: a loader samples on the CPU."""
    return any(
        here.names.is_foreign_class(call.func) and here.names.value_of(read) != HOST
        for call, read in here.source.given_of(name)
    )


def moved_whole(
    here: RuleContext, code: str, value: Value, move: str, names: tuple[str, ...] = _ITEMS
) -> str | None:
    """What moves a value: dicts and lists have no `.to()`; what is no tensor stays in a dict."""
    if not isinstance(value, _CONTAINERS):
        return f"{code}{move}" if has_move(value) else None
    if not names:
        return None
    parts = here.names.parts_of(value)
    name = "value" if isinstance(value, DictOf) else names[0]
    inner = [moved_whole(here, name, part, move, names[1:]) for part in parts] or [f"{name}{move}"]
    tensors = [isinstance(part, (*_MOVE, *_CONTAINERS)) for part in parts]
    chosen = {code for code, moves in zip(inner, tensors or [True], strict=True) if moves}
    if len(chosen) != 1:
        return None
    moved = chosen.pop()
    if not isinstance(value, DictOf):
        return f"[{moved} for {name} in {code}]" if all(tensors) else None
    torch = here.names.torch_name()
    if not all(tensors) and torch is not None and moved == f"{name}{move}":
        moved += f" if {torch}.is_tensor({name}) else {name}"
    elif not all(tensors):
        return None
    return f"{{key: {moved} for key, {name} in {code}.items()}}"

"""`isinstance(x, …)` and its kin: what a value is, so far as that is known for sure."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.join import as_bool
from devicelint.domain.values import (
    HOST,
    Array,
    Class,
    Const,
    DictOf,
    ImportedName,
    Instance,
    ListOf,
    Module,
    Stream,
    Tensor,
    Tuple,
    Value,
)
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.objects import CLASS_FIELD, OPEN_FIELD
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import function

_CONTAINERS: dict[type, frozenset[str]] = {
    ListOf: frozenset("builtins.list Sequence MutableSequence List".split()),
    DictOf: frozenset("builtins.dict Mapping MutableMapping Dict".split()),
    Tuple: frozenset({"builtins.tuple", "Sequence"}),
}
_MAPPINGS = _CONTAINERS[DictOf] - {"builtins.dict"}
_NO_SEQUENCES = ("torch.Tensor", "torch.nn.Module", "builtins.dict", "builtins.str")
"""What nothing is of which no more is known than its elements."""
_PLAIN = frozenset("list dict tuple set str int float bool complex bytes".split())
_ABSTRACT = frozenset({"Dict", "List", "Mapping", "MutableMapping", "MutableSequence", "Sequence"})
_OF_OTHERS = ("PIL.", "numbers.", "numpy.", "pandas.", "scipy.")
"""The types that a tensor, a module or a container of another type is not."""


@function("builtins.isinstance")
def isinstance_(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """Known where every class asked for is."""
    if len(arguments.positional) != 2:
        return HOST
    value, asked = (argument.value for argument in arguments.positional)
    answers = [
        is_of(run, value, one) for one in (asked.items if isinstance(asked, Tuple) else (asked,))
    ]
    if True in answers:
        return as_bool(True)
    return HOST if None in answers else as_bool(False)


@function("torch.is_tensor")
def is_tensor(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    given = arguments.get(0, "obj")
    answer = None if given is None else is_of(run, given.value, ImportedName("torch.Tensor"))
    return HOST if answer is None else as_bool(answer)


def is_of(run: Run, value: Value, asked: Value) -> bool | None:
    """Whether a value is an object of a class, or of what derives from it."""
    if isinstance(value, (Module, Instance)) and isinstance(asked, Class):
        answer = _derives(run.state.read(value.ref, CLASS_FIELD), asked)
        is_open = run.state.read(value.ref, OPEN_FIELD) is not None
        return None if is_open and answer is False else answer
    if not isinstance(asked, ImportedName):
        return False if isinstance(asked, Class) and isinstance(value, Tensor) else None
    root, _, last = asked.name.rpartition(".")
    is_plain = root == "builtins" and last in _PLAIN
    is_abstract = root in ("collections.abc", "typing") and last in _ABSTRACT
    is_apart = is_plain or is_abstract or asked.name.startswith(_OF_OTHERS)
    if isinstance(value, Tensor):
        return True if asked.name == "torch.Tensor" else False if is_apart else None
    if isinstance(value, Module):
        is_other = is_plain or asked.name.startswith(_OF_OTHERS)
        return True if asked.name == "torch.nn.Module" else False if is_other else None
    if isinstance(value, Stream):
        return False if asked.name in _NO_SEQUENCES or last in _MAPPINGS else None
    if type(value) in _CONTAINERS:
        return _is_container(value, last if is_abstract else asked.name, is_apart)
    if isinstance(value, Const) and is_plain:
        return type(value.value).__name__ == last
    if isinstance(value, (Const, Array)):
        return False if asked.name in ("torch.Tensor", "torch.nn.Module") else None
    return None


def _is_container(value: Value, asked: str, is_apart: bool) -> bool | None:
    if asked in _CONTAINERS[type(value)]:
        is_set = isinstance(value, ListOf) and not isinstance(value.site, (cst.List, cst.ListComp))
        return None if is_set else True
    if isinstance(value, ListOf) and asked == "builtins.set":
        return None
    return False if is_apart or asked == "torch.Tensor" else None


def _derives(cls: Value | None, asked: Class) -> bool | None:
    if not isinstance(cls, Class):
        return None
    if cls == asked:
        return True
    answers = [_derives(base, asked) for base in cls.bases if isinstance(base, Class)]
    return True if True in answers else False if None not in answers else None

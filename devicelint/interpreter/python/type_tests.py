"""`isinstance(x, …)`, `type(x) is …` and their kin: what a value is, so far as that is sure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from devicelint.domain.devices import DeviceOf
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
    types = asked.items if isinstance(asked, Tuple) else (asked,)
    answer = _is_one([is_of(run, value, one) for one in types])
    return HOST if answer is None else as_bool(answer)


def _is_one(answers: Sequence[bool | None]) -> bool | None:
    """Whether one of several answers is that it is so, where that is sure."""
    if True in answers:
        return True
    return None if None in answers else False


@function("torch.is_tensor")
def is_tensor(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    given = arguments.get(0, "obj")
    answer = None if given is None else is_of(run, given.value, ImportedName("torch.Tensor"))
    return HOST if answer is None else as_bool(answer)


@dataclass(frozen=True, slots=True)
class TypeQuestion:
    """`type(x) is C`, `type(x) == C` or `type(x) in (C, D)`, or that it is not."""

    thing: cst.BaseExpression
    types: tuple[Value, ...]
    positive: bool


_OPERATORS: dict[type[cst.BaseCompOp], bool] = {
    cst.Equal: True,
    cst.Is: True,
    cst.In: True,
    cst.NotEqual: False,
    cst.IsNot: False,
    cst.NotIn: False,
}


def type_question(run: Run, node: cst.BaseExpression) -> TypeQuestion | None:
    """What a comparison asks of the type of a value, which is that class itself and no other."""
    match node:
        case cst.Comparison(
            left=cst.Call(func=cst.Name() as function, args=[cst.Arg(value=thing)]),
            comparisons=[cst.ComparisonTarget(operator=operator, comparator=comparator)],
        ):
            pass
        case _:
            return None
    if type(operator) not in _OPERATORS:
        return None
    with run.muted():
        if run.evaluate(function) != ImportedName("builtins.type"):
            return None
        asked = run.evaluate(comparator)
    types = asked.items if isinstance(asked, Tuple) else (asked,)
    return TypeQuestion(thing, types, _OPERATORS[type(operator)])


def type_comparison(run: Run, node: cst.BaseExpression) -> bool | None:
    """Whether a comparison of a type holds, where every class asked for says so."""
    question = type_question(run, node)
    if question is None:
        return None
    with run.muted():
        value = run.evaluate(question.thing)
    answer = _is_one([_is_itself_of(run, value, one) for one in question.types])
    return None if answer is None else answer is question.positive


def _is_itself_of(run: Run, value: Value, asked: Value) -> bool | None:
    """Whether the type of a value is a class: one that derives from it is another."""
    answer = is_of(run, value, asked)
    if answer is not True:
        return answer
    if isinstance(value, Tensor):
        is_unseen = isinstance(value.device, DeviceOf)
        return None if is_unseen or value.role else True
    return None if isinstance(value, (Module, Instance)) else True


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
    return _is_one([_derives(base, asked) for base in cls.bases if isinstance(base, Class)])

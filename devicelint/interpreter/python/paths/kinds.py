"""Conditions that ask what a thing from outside is, and what their answers say on each path.

`isinstance(x, torch.Tensor)` and `torch.is_tensor(x)` hold for tensors alone; what is a list or a
number is none.  `type(x) is torch.Tensor` says as much: the Parameter for which it does not hold
is left alone.
"""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devicelint.domain.devices import DeviceOf
from devicelint.domain.history import Step
from devicelint.domain.values import (
    Batch,
    ImportedName,
    Placed,
    Stream,
    Symbolic,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import settles
from devicelint.interpreter.facts.tensor_parameters import IS_TENSOR
from devicelint.interpreter.python.paths.device_questions import NO_ANSWERS, Answers
from devicelint.interpreter.python.type_tests import type_question

_TENSORS = frozenset(
    {
        *("torch.Tensor", "torch.nn.Parameter", "torch.nn.parameter.Parameter"),
        *("torch.autograd.Variable", "torch.FloatTensor", "torch.LongTensor"),
    }
)
_HOST = frozenset(
    {
        *(f"builtins.{one}" for one in "list tuple dict set str int float bool complex".split()),
        *("numpy.ndarray", "numpy.generic", "numpy.number", "numbers.Number", "pandas.DataFrame"),
    }
)


def kind_answers(run: Run, node: cst.BaseExpression) -> Answers:
    """Whether a thing is a tensor, where a condition says it."""
    question = type_question(run, node)
    if question is not None:
        holds, fails = _said_of(run, question.thing, _names(question.types))
        return (holds, fails) if question.positive else (fails, holds)
    match node:
        case cst.Call(args=[cst.Arg(value=cst.Name() | cst.Attribute() as thing), *_]):
            return _said_of(run, thing, asked_types(run, node))
        case _:
            return NO_ANSWERS


def _said_of(run: Run, thing: cst.BaseExpression, kinds: frozenset[str]) -> Answers:
    """What it says of a thing that it is of one of some types, and that it is of none of them."""
    if not kinds:
        return NO_ANSWERS
    with run.muted():
        origin = _origin_of(run.evaluate(thing))
    if origin is None:
        return NO_ANSWERS
    question = (IS_TENSOR, origin)
    fails = [(question, False)] if "torch.Tensor" in kinds else []
    if kinds <= _HOST:
        return [(question, False)], fails
    return [(question, True)] if kinds <= _TENSORS else [], fails


def _origin_of(value: Value) -> str | None:
    """What a thing from outside goes by, or what is found in one."""
    match value:
        case Symbolic(origin=origin, since=Step()):
            return origin
        case Unknown(symbol=Step(device=DeviceOf(place=place))):
            return place
        case Placed(since=Step(site=site)):
            return f"moved at {id(site)}"
        case Batch(since=Step(site=site), whole=whole):
            return f"{'a batch' if whole else 'part of a batch'} of {id(site)}"
        case _:
            return None


@settles(Placed)
def what_is_moved(run: Run, value: Placed, node: cst.BaseExpression) -> Value:
    """What was moved is a tensor, or a module: a question on this path may tell which."""
    if not run.state.facts:
        return value
    answer = run.state.facts.get((IS_TENSOR, _origin_of(value)))
    if answer is None:
        return value
    if answer is True:
        return Tensor(value.device, value.since)
    return Unknown("what was moved is no tensor")


@settles(Batch)
def what_is_loaded(run: Run, value: Batch, node: cst.BaseExpression) -> Value:
    """What a loader yields holds tensors, on the path that has found that it is none itself."""
    if not run.state.facts or run.state.facts.get((IS_TENSOR, _origin_of(value))) is not False:
        return value
    return Stream(replace(value, whole=False))


def asked_types(run: Run, call: cst.Call) -> frozenset[str]:
    """The full names of the types that a call asks for; none where one is something else."""
    with run.muted():
        function = run.evaluate(call.func)
        if function == ImportedName("torch.is_tensor"):
            return frozenset({"torch.Tensor"})
        if function != ImportedName("builtins.isinstance") or len(call.args) != 2:
            return frozenset()
        asked = run.evaluate(call.args[1].value)
    return _names(asked.items if isinstance(asked, Tuple) else (asked,))


def _names(types: tuple[Value, ...]) -> frozenset[str]:
    names = [one.name for one in types if isinstance(one, ImportedName)]
    return frozenset(names) if len(names) == len(types) else frozenset()

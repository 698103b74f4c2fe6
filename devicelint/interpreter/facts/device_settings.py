"""Which names and options of a file a device is chosen by, whatever they are called.

A name is such a setting where something is brought to a device in a branch that it decides on,
where it is given as a device, or where it is worked out from what asks the machine.  An expression
that reads a setting, a device, or what torch says of devices asks for a device.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import libcst as cst

from devicelint.domain.values import DeviceHandle, DeviceIndex
from devicelint.interpreter.engine.nodes import cached_of_nodes, code_by_kind, descendants
from devicelint.interpreter.engine.program import Program
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.machines.choosing_branches import (
    BRINGS,
    is_choice,
    is_made_there,
    is_named,
    is_nothing,
    name_of,
    names_read,
    only_choose,
)
from devicelint.interpreter.facts.mentions import path_of

_ASKS = frozenset({"is_cuda", "get_device"})
"""Attributes that tell of devices, whatever they are read of."""
_COUNTS = frozenset({"device_count", "current_device"})
"""What numbers devices: a number chooses between accelerators, and not whether there is one."""
_BACKENDS = frozenset({"nccl", "cpu:gloo,cuda:nccl"})
"""The backends of process groups that reach accelerators."""
_MOVES = BRINGS | {"to", "cpu"}
_TAKES = BRINGS | {"device", "Device"}
"""What is given a device first."""
_GIVEN = frozenset({"device", "map_location", "device_ids", "device_type", "output_device"})
"""Arguments by which torch is given a device."""
_OF_TORCH = frozenset({"cuda", "backends", "xpu", "mps", "accelerator", "npu"})
"""The parts of torch that are about accelerators."""
_VISIBLE = "CUDA_VISIBLE_DEVICES"
"""The variable by which CUDA is told which devices there are."""
_LEAVES = frozenset({cst.Name, cst.Attribute, cst.SimpleString, cst.Integer})
_OPERATORS = (cst.BooleanOperation, cst.Comparison, cst.UnaryOperation)

_Step = tuple[frozenset[str], frozenset[str], bool]
"""Names that are settings where one of the second names is one, or in any case."""


def asks_for_device(run: Run, node: cst.CSTNode, *, is_option: bool = False) -> bool:
    """Whether an expression asks for a device, or reads what one is chosen by.

    What comes from outside is an option: that a branch of it moves something is a choice, while
    what the program counts or draws may move something by mistake.
    """
    said = _said_by(node)
    if said.asks or not said.names.isdisjoint(device_settings(run.file, is_option)):
        return True
    if not said.variables:
        return False
    held = run.state.fields(run.frame.ref)
    return any(isinstance(held.get(name), (DeviceHandle, DeviceIndex)) for name in said.variables)


def is_device_setting(run: Run, origin: str) -> bool:
    """Whether what comes from outside, as `args.gpu`, is what a device is chosen by."""
    settings = device_settings(run.file, True)
    return any(_asks(one) or name_of(one) in settings for one in _parts(origin))


@functools.lru_cache(maxsize=1_000)
def _parts(origin: str) -> tuple[cst.CSTNode, ...]:
    """What an expression is made of; nothing, for what is none."""
    try:
        return tuple(descendants(cst.parse_expression(origin)))
    except cst.ParserSyntaxError:
        return ()


class _Said(NamedTuple):
    """What an expression says of devices, whatever its names stand for."""

    asks: bool
    names: frozenset[str]
    """The last parts of what it reads."""
    variables: frozenset[str]


@cached_of_nodes(10_000)
def _said_by(node: cst.CSTNode) -> _Said:
    parts = tuple(descendants(node))
    variables = frozenset(one.value for one in parts if type(one) is cst.Name)
    return _Said(any(map(_asks, parts)), frozenset(map(name_of, parts)), variables)


def device_settings(program: Program, with_branches: bool) -> frozenset[str]:
    """The names, attributes and keys by which a file chooses devices.

    With branches: also those on which branches depend that do nothing but move something.
    """
    return _settings_in(program.tree)[with_branches]


@cached_of_nodes(32)
def _settings_in(tree: cst.Module) -> tuple[frozenset[str], frozenset[str]]:
    """The settings of a file, without branches and with; the programs of one tree share them."""
    steps = _of_kinds(tree, _STEPS)
    found = _grown(steps, frozenset())
    return found, _grown(steps + _of_kinds(tree, _STEPS_OF_BRANCHES), found)


def _of_kinds(tree: cst.Module, readers: Mapping[type[cst.CSTNode], _Reader]) -> list[_Step]:
    """What the nodes of some kinds say of settings."""
    nodes = code_by_kind(tree)
    return [
        step for kind, read in readers.items() for one in nodes.get(kind, ()) for step in read(one)
    ]


def _grown(steps: list[_Step], found: frozenset[str]) -> frozenset[str]:
    """The settings, with those that more and more steps make of them."""
    while True:
        more = (names for names, of, shown in steps if shown or not found.isdisjoint(of))
        grown = found.union(*more)
        if grown == found:
            return found
        found = grown


def _of_branches(node: cst.If | cst.IfExp) -> Iterator[_Step]:
    """What branches that do nothing but bring something to a device say of their condition."""
    other = node.orelse.body if isinstance(node.orelse, cst.Else) else node.orelse
    branches = [one for one in (node.body, other) if one is not None]
    names = names_read(node.test).difference(*map(_moved_in, branches))
    if isinstance(node, cst.IfExp):
        names = names.difference(_there_at_all(names, branches))
    yield names, frozenset(), bool(names) and only_choose(*branches)


def _there_at_all(names: frozenset[str], branches: Sequence[cst.CSTNode]) -> frozenset[str]:
    """Those of some names that say whether there is something, where one branch makes it.

    `torch.zeros(3, device="cuda") if wanted else None` is on no other device, and what the other
    branch works with is what there is.
    """
    others = [one for one in branches if not is_made_there(one)]
    if len(others) != 1:
        return frozenset()
    if is_nothing(others[0]):
        return names
    calls = (one for one in descendants(others[0]) if isinstance(one, cst.Call))
    given = (argument for one in calls for argument in one.args if argument.keyword is None)
    return frozenset(name_of(argument.value) for argument in given)


def _of_hiding(node: cst.If) -> Iterator[_Step]:
    """`if args.gpus == 0: os.environ["CUDA_VISIBLE_DEVICES"] = "-1"`."""
    lines = node.body.body if isinstance(node.body, cst.IndentedBlock) else ()
    simple = (line.body for line in lines if isinstance(line, cst.SimpleStatementLine))
    if any(map(_hides, chain.from_iterable(simple))):
        yield names_read(node.test), frozenset(), True


def _hides(statement: cst.CSTNode) -> bool:
    """Whether a statement says which accelerators the process sees."""
    if not isinstance(statement, cst.Assign):
        return False
    return any(name_of(one.target) == _VISIBLE for one in statement.targets)


def _of_choice(node: cst.IfExp) -> Iterator[_Step]:
    """`"cuda" if gpu else "cpu"`.

    What is made on a device, or is missing, and what there is to work with, choose none.
    """
    branches = node.body, node.orelse
    named = any(_is_of_device(part) for one in branches for part in descendants(one))
    names = names_read(node.test).difference(*map(_moved_in, branches))
    yield names.difference(_there_at_all(names, branches)), frozenset(), named


def _of_assignment(node: cst.Assign) -> Iterator[_Step]:
    bound = frozenset(name_of(one.target) for one in node.targets) - {""}
    yield from _bound_to(bound, node.value)


def _of_call(node: cst.Call) -> Iterator[_Step]:
    """`torch.device(args.device)`."""
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=name)), args=[first, *_]):
            if name in _TAKES and first.keyword is None:
                yield names_read(first.value), frozenset(), True
        case _:
            pass


def _of_argument(node: cst.Arg) -> Iterator[_Step]:
    """`torch.load(path, map_location=where)`."""
    if node.keyword is not None and node.keyword.value in _GIVEN:
        yield names_read(node.value), frozenset(), True


def _bound_to(bound: frozenset[str], value: cst.BaseExpression) -> Iterator[_Step]:
    """`use = args.gpu and torch.cuda.is_available()` makes settings of both."""
    answers = _is_answer(value) and not any(map(_counts, descendants(value)))
    yield bound, frozenset(), answers
    if isinstance(value, _OPERATORS) or name_of(value):
        read = names_read(value)
        yield bound, read, False
        yield read, bound, answers


def _is_answer(value: cst.BaseExpression) -> bool:
    """Whether an expression as a whole is a device, or what is known of devices."""
    if type(value) in _LEAVES:
        return _asks(value)
    match value:
        case cst.BooleanOperation(left=left, right=right):
            return _is_answer(left) or _is_answer(right)
        case cst.UnaryOperation(expression=inner):
            return _is_answer(inner)
        case cst.Comparison(left=left, comparisons=others):
            return _is_answer(left) or any(_is_answer(one.comparator) for one in others)
        case cst.IfExp(test=test, body=body, orelse=other):
            return any(map(_is_answer, (test, body, other)))
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=name)) as func, args=given):
            asks = name == "device" or (name not in _MOVES and _asks(func))
            return asks or any(map(_passes_answer, given))
        case cst.Call(args=given):
            return any(map(_passes_answer, given))
        case _:
            return _asks(value)


def _passes_answer(given: cst.Arg) -> bool:
    """`skipif(not torch.cuda.is_available())`: what is made of an answer says the same."""
    is_device = given.keyword is not None and given.keyword.value in _GIVEN
    return not (is_device or is_named(given.value)) and _is_answer(given.value)


def _moved_in(branch: cst.CSTNode) -> frozenset[str]:
    """What a branch moves: whether that is there at all is no choice of a device."""
    moves = (node.func for node in descendants(branch) if isinstance(node, cst.Call))
    return frozenset(
        name_of(func.value)
        for func in moves
        if isinstance(func, cst.Attribute) and func.attr.value in _MOVES
    )


def _is_of_device(node: cst.CSTNode) -> bool:
    """Whether a device is named, or a part of torch that is for one: `torch.cuda.FloatTensor`."""
    return is_named(node) or (isinstance(node, cst.Attribute) and _asks(node))


def _counts(node: cst.CSTNode) -> bool:
    return type(node) is cst.Attribute and node.attr.value in _COUNTS


def _asks(node: cst.CSTNode) -> bool:
    if type(node) is cst.Attribute:
        part = path_of(node.value).partition("torch.")[2].partition(".")[0]
        return node.attr.value in _ASKS or part in _OF_TORCH
    if type(node) is cst.SimpleString and node.raw_value in _BACKENDS:
        return True
    return is_choice(node)


_Reader = Callable[[Any], Iterator[_Step]]
_STEPS: Mapping[type[cst.CSTNode], _Reader] = {
    cst.IfExp: _of_choice,
    cst.Assign: _of_assignment,
    cst.Call: _of_call,
    cst.Arg: _of_argument,
    cst.If: _of_hiding,
}
_STEPS_OF_BRANCHES: Mapping[type[cst.CSTNode], _Reader] = dict.fromkeys(
    (cst.If, cst.IfExp), _of_branches
)

"""Conditions that ask where something is: what their answers say of the device itself.

`x.is_cuda`, `x.device.type != "cpu"` and `"cuda" in str(x.device)` are one question, which is asked
of the device and of no name; `x.device == y.device` is asked of two of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

import libcst as cst

from devicelint.domain.devices import DEVICE_TYPES, Device, DeviceOf, Known
from devicelint.domain.values import Batch, Fact, Placed, Tensor
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.python.paths.named_in_questions import (
    compared_index,
    compared_types,
    device_named_by,
    one_of_two,
    place_of,
    text_of,
)

IS_ACCELERATOR = "is an accelerator"
ARE_ONE = "are one device"
OF_NO_CUDA_TYPE = "is of no type of CUDA's that was asked for"
_ASKING = frozenset({cst.Attribute, cst.Call, cst.Comparison})
"""Conditions that may ask where something is."""
_OF_PARTS = frozenset({cst.UnaryOperation, cst.BooleanOperation})
_EQUALITY = frozenset({cst.Equal, cst.NotEqual})
_MEMBERSHIP = frozenset({cst.In, cst.NotIn})
_TWO_WAYS = ("cpu", "cuda")
"""The types of which one is taken for the other's absence."""


Answers = tuple[Sequence[Fact], Sequence[Fact]]
"""What a condition says that holds, and what it says otherwise."""
NO_ANSWERS: Answers = (), ()


def device_answers(run: Run, node: cst.BaseExpression) -> Answers:
    """What a condition says of devices."""
    if type(node) not in _ASKING:
        return NO_ANSWERS
    typed = _compared_type(run, node)
    if typed is not None:
        device, positive = typed
        is_so, is_not = ((IS_ACCELERATOR, device), True), ((OF_NO_CUDA_TYPE, device), True)
        return ((is_so,), (is_not,)) if positive else ((is_not,), (is_so,))
    types = compared_types(run, node)
    if types is not None:
        said = _of_one_type(*types[:2])
        return (said, ()) if types[2] else ((), said)
    asked = _asked(run, node)
    if asked is None:
        return NO_ANSWERS
    question, positive, both_ways = asked
    holds, fails = (((question, positive is outcome),) for outcome in (True, False))
    return (holds if both_ways or positive else ()), (fails if both_ways or not positive else ())


def said_of_devices(run: Run, node: cst.BaseExpression, outcome: bool) -> frozenset[Fact]:
    """What a condition that has come out so says of devices, its parts included."""
    parts = decided_parts(node, outcome)
    return frozenset().union(*(device_answers(run, part)[not holds] for part, holds in parts))


def decided_parts(
    node: cst.BaseExpression, outcome: bool
) -> Iterator[tuple[cst.BaseExpression, bool]]:
    """The parts of a condition that has come out so, each with how it has come out itself."""
    if type(node) not in _OF_PARTS:
        yield node, outcome
        return
    match node:
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            yield from decided_parts(inner, not outcome)
        case cst.BooleanOperation(operator=operator, left=left, right=right):
            if isinstance(operator, cst.And) is outcome:
                yield from (*decided_parts(left, outcome), *decided_parts(right, outcome))
        case _:
            yield node, outcome


def known_of_device(run: Run, node: cst.BaseExpression) -> bool | None:
    """What this path has found out of the device that a condition asks for."""
    is_bare = not run.world.accelerators
    asked = _asked(run, node) if run.state.facts or is_bare else None
    if asked is None:
        return None
    if is_bare and asked[0][0] == IS_ACCELERATOR:
        return not asked[1]
    if not asked[2]:
        return None
    known = run.state.facts.get(asked[0])
    return None if known is None else known is asked[1]


def is_on_the_cpu_here(run: Run, device: Device) -> bool:
    """Whether a question on this path has shown that a device is no accelerator."""
    return run.state.facts.get((IS_ACCELERATOR, one_of_two(device))) is False


def is_of_no_cuda_type_here(run: Run, device: Device) -> bool:
    """Whether `x.type() == "torch.cuda.FloatTensor"` and its kin have failed on this path."""
    return run.state.facts.get((OF_NO_CUDA_TYPE, one_of_two(device))) is True


def is_accelerator_here(run: Run, device: Device) -> bool:
    """Whether a question on this path has shown that a device is an accelerator."""
    return run.state.facts.get((IS_ACCELERATOR, one_of_two(device))) is True


def meets_accelerators_here(run: Run) -> bool:
    """Whether a question on this path has shown that something of a caller's is on one."""
    return any(
        answer is True and question[0] == IS_ACCELERATOR and isinstance(question[1], DeviceOf)
        for question, answer in run.state.facts.items()
        if isinstance(question, tuple)
    )


def are_one_here(run: Run, one: Device, other: Device) -> bool:
    """Whether a question on this path has shown that two devices are one."""
    both = frozenset({one_of_two(one), one_of_two(other)})
    return run.state.facts.get((ARE_ONE, both)) is True


def asks_for_place(run: Run, node: cst.BaseExpression) -> bool:
    """Whether a condition asks where tensors lie, which is no question about the machine."""
    match node:
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            return asks_for_place(run, inner)
        case cst.BooleanOperation(left=left, right=right):
            return asks_for_place(run, left) and asks_for_place(run, right)
        case cst.Attribute(attr=cst.Name(value="is_cuda" | "is_cpu")):
            return True
        case cst.Call(func=cst.Attribute(value=named, attr=cst.Name("startswith"))):
            return _is_place(run, named)
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(comparator=right)]):
            return _is_place(run, left) or _is_place(run, right)
        case _:
            return False


def _is_place(run: Run, node: cst.BaseExpression) -> bool:
    """`x.device`, its type or its text."""
    match node:
        case cst.Call(func=cst.Name("str"), args=[given]):
            return _is_place(run, given.value)
        case cst.Attribute(value=owner, attr=cst.Name("type")):
            return _is_place(run, owner)
        case cst.Attribute(value=owner, attr=cst.Name("device")):
            with run.muted():
                return isinstance(run.evaluate(owner), (Tensor, Batch, Placed))
        case cst.Call(func=cst.Attribute(attr=cst.Name("get_device")), args=[]):
            return True
        case _:
            return False


Asked = tuple[tuple[str, Hashable], bool, bool]
"""A question, the answer that the condition stands for, and whether it asks both ways."""


def _asked(run: Run, node: cst.BaseExpression) -> Asked | None:
    if type(node) not in _ASKING:
        return None
    if type(node) is cst.Comparison:
        return _asked_by_comparison(run, node)
    match node:
        case cst.Attribute(value=owner, attr=cst.Name(value="is_cuda" | "is_cpu" as name)):
            return _of(place_of(run, owner), name.removeprefix("is_"))
        case cst.Call(func=cst.Attribute(value=text, attr=cst.Name("startswith")), args=[given]):
            return _of(device_named_by(run, text), text_of(run, given.value))
        case _:
            return None


def _asked_by_comparison(run: Run, node: cst.Comparison) -> Asked | None:
    if len(node.comparisons) != 1:
        return None
    index = compared_index(run, node)
    if index is None or isinstance(index[0], Known):
        target = node.comparisons[0]
        return _compared(run, node.left, target.operator, target.comparator)
    return (IS_ACCELERATOR, index[0]), index[1], True


def _compared_type(run: Run, node: cst.BaseExpression) -> tuple[Device, bool] | None:
    """The device whose type of tensors a comparison asks for, and whether it asks that it is so."""
    match node:
        case cst.Comparison(
            left=cst.Call(func=cst.Attribute(value=owner, attr=cst.Name("type")), args=[]),
            comparisons=[cst.ComparisonTarget(cst.Equal() | cst.NotEqual() as sign, right)],
        ) if text_of(run, right).startswith("torch.cuda."):
            device = place_of(run, owner)
            return None if device is None else (device, isinstance(sign, cst.Equal))
        case _:
            return None


def _of_one_type(one: Device, other: Device) -> tuple[Fact, ...]:
    """What equal types say: both are of the CPU, or both of one kind of accelerators."""
    for known, device in ((one, other), (other, one)):
        if isinstance(known, Known) and not isinstance(device, Known):
            return (((IS_ACCELERATOR, device), known.type != "cpu"),)
    return (((ARE_ONE, frozenset({one, other})), True),)


def _compared(
    run: Run, left: cst.BaseExpression, operator: cst.BaseCompOp, right: cst.BaseExpression
) -> Asked | None:
    if type(operator) in _MEMBERSHIP:
        asked = _of(device_named_by(run, right), text_of(run, left))
        return _turned(asked, isinstance(operator, cst.NotIn))
    if type(operator) not in _EQUALITY:
        return None
    is_unequal = isinstance(operator, cst.NotEqual)
    for named, text in ((left, right), (right, left)):
        kind = text_of(run, text)
        if kind:
            return _turned(_of(device_named_by(run, named), kind), is_unequal)
    one = device_named_by(run, left)
    other = None if one is None else device_named_by(run, right)
    if one is None or other is None:
        return None
    for device, known in ((one, other), (other, one)):
        if isinstance(known, Known):
            return _turned(_of(device, str(known)), is_unequal)
    return (ARE_ONE, frozenset({one, other})), not is_unequal, True


def _turned(asked: Asked | None, is_turned: bool) -> Asked | None:
    return asked and (asked[0], asked[1] is not is_turned, asked[2])


def _of(device: Device | None, kind: str) -> Asked | None:
    if device is None or isinstance(device, Known):
        return None
    if kind.partition(":")[0] not in DEVICE_TYPES:
        return None
    return (IS_ACCELERATOR, device), kind != "cpu", kind in _TWO_WAYS

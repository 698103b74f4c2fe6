"""What is known of a condition, and what follows from taking a branch."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import libcst as cst

from devicelint.domain.values import (
    Class,
    Const,
    DeviceHandle,
    Deviceless,
    Flag,
    Function,
    HostValue,
    Module,
    Outside,
    Partial,
    Stream,
    Tool,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.run import Run

AVAILABLE = "torch.cuda.is_available()"
"""The flag that every way of asking for an accelerator comes to."""
EXCEPT = "except"
"""The flag of an exception that was caught."""


def condition_of(value: Value) -> Value:
    """A value as a condition: what comes from outside is a flag that stays the same."""
    return Flag(value.origin) if isinstance(value, Outside) else value


def truth_of(run: Run, value: Value) -> bool | None:
    """Whether a condition holds, or None where nothing is known."""
    match value:
        case Const():
            return bool(value.value)
        case Flag(key, negated):
            if key == AVAILABLE:
                return (run.world.accelerators > 0) is not negated
            return run.decide(value)
        case Outside():
            return run.decide(Flag(value.origin))
        case Tuple():
            return bool(value.items)
        case Stream(filled=True):
            return True
        case Module() | DeviceHandle() | Function() | Class() | Partial() | Tool() | Deviceless():
            return True
        case _:
            return None


_NOTHING: AbstractContextManager[None] = nullcontext()


def assuming(run: Run, condition: Value) -> AbstractContextManager[None]:
    """Walk under a condition: what is written there is somebody's choice, not hard-coded."""
    return _assuming(run, condition) if depends_on_choice(run, condition) else _NOTHING


@contextmanager
def _assuming(run: Run, condition: Value) -> Iterator[None]:
    unrelated = is_unrelated(condition)
    run.assumptions += 1
    run.unrelated += unrelated
    try:
        yield
    finally:
        run.assumptions -= 1
        run.unrelated -= unrelated


def is_unrelated(condition: Value) -> bool:
    """Whether a condition that the code cannot tell says nothing of devices: `args.resume`."""
    match condition:
        case Flag(key=words) | Outside(origin=words):
            return words != EXCEPT and SPEAKS_OF_DEVICES.search(words) is None
        case _:
            return False


_SETTING = re.compile(r"(?!self\.)\w+\.\w+|\w+$")
"""`args.train`, `opt.epoch != 0` or `training`, but not `score > best`."""


def under_setting(run: Run, condition: Value, outcome: bool) -> AbstractContextManager[None]:
    """Walk a branch that a setting decides on."""
    if not isinstance(condition, Flag) or is_machine(condition):
        return _NOTHING
    if _SETTING.match(condition.key) is None:
        return _NOTHING
    return _under(run, f"{condition.key} is {outcome is not condition.negated}")


@contextmanager
def _under(run: Run, setting: str) -> Iterator[None]:
    before = len(run.settings)
    run.settings.append(setting)
    try:
        yield
    finally:
        del run.settings[before:]


def depends_on_choice(run: Run, condition: Value) -> bool:
    """Whether a condition guards what it surrounds.

    The machine itself is such a condition where an accelerator is there; where none is, a branch
    that is taken is taken for sure.
    """
    if is_machine(condition):
        return run.world.accelerators > 0
    return isinstance(condition, (Flag, Outside))


def is_machine(condition: Value) -> bool:
    """Whether a condition asks for an accelerator, or for none."""
    return isinstance(condition, Flag) and condition.key == AVAILABLE


def condition_at(run: Run, node: cst.BaseExpression) -> Value:
    """A test as a condition.

    One about devices whose outcome the code does not tell is a choice that stays the same.
    """
    value = condition_of(run.evaluate(node))
    if isinstance(value, (HostValue, Unknown)) and asks_for_device(node):
        if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
            return Flag(run.code_of(node.expression), negated=True)
        return Flag(run.code_of(node))
    return value


def choosing(run: Run, node: cst.BaseExpression, condition: Value) -> AbstractContextManager[None]:
    """Walk the branches of a test.

    Where it asks for a device by a setting (`if USE_CUDA:`) or by what it sees (`if x.is_cuda:`),
    whatever stands in a branch is chosen there, even where the outcome is known.
    """
    asks = not is_machine(condition) and asks_for_device(node)
    return _choosing(run, node, condition, asks)


@contextmanager
def _choosing(run: Run, node: cst.BaseExpression, condition: Value, asks: bool) -> Iterator[None]:
    counted = asks and not isinstance(condition, Flag)
    run.assumptions += counted
    run.device_choices += asks
    try:
        run.steps.tested(node, condition)
        run.steps.branching(node)
        yield
    finally:
        run.steps.branched()
        run.assumptions -= counted
        run.device_choices -= asks


SPEAKS_OF_DEVICES = re.compile(
    "cuda|gpu|cpu|device|accel|mps|xpu|hpu|npu|tpu|nvidia|rocm|nccl|world_size", re.IGNORECASE
)
"""Words of conditions about devices; processes that work together have one each."""


def may_skip(decorator: str) -> bool:
    """Whether a decorator keeps a test from being run: on some machines, or on all of them."""
    return "skip" in decorator.partition("(")[0].lower()


@functools.lru_cache(maxsize=1_000)
def asks_for_device(node: cst.CSTNode) -> bool:
    """Whether an expression speaks of devices, by the words in it."""
    waiting: list[cst.CSTNode] = [node]
    while waiting:
        one = waiting.pop()
        match one:
            case cst.Name() | cst.SimpleString():
                if SPEAKS_OF_DEVICES.search(one.value):
                    return True
            case cst.Attribute():
                waiting += (one.value, one.attr)
            case cst.Call():
                waiting += (one.func, *(argument.value for argument in one.args))
            case cst.Comparison():
                waiting += (one.left, *(target.comparator for target in one.comparisons))
            case cst.BooleanOperation() | cst.BinaryOperation():
                waiting += (one.left, one.right)
            case cst.UnaryOperation():
                waiting.append(one.expression)
            case cst.Subscript():
                waiting += (one.value, *one.slice)
            case cst.SubscriptElement():
                waiting.append(one.slice)
            case cst.Index() | cst.NamedExpr() | cst.Await():
                waiting.extend(one.children)
            case _:
                pass
    return False

"""What is known of a condition, and what follows from taking a branch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import libcst as cst

from devicelint.domain.history import Site
from devicelint.domain.values import (
    Class,
    Const,
    DeviceHandle,
    DictOf,
    Flag,
    Function,
    HostValue,
    ImportedName,
    LibraryObject,
    ListOf,
    Module,
    NotMovable,
    Partial,
    Ref,
    Stream,
    Symbolic,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.nodes import children
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.device_settings import asks_for_device, is_device_setting
from devicelint.interpreter.facts.machines.choosing_branches import name_of
from devicelint.interpreter.python.containers.contents import length_of
from devicelint.interpreter.python.paths.device_questions import asks_for_place
from devicelint.interpreter.python.paths.questions import known_answer

AVAILABLE = "torch.cuda.is_available()"
"""The flag that every way of asking for an accelerator comes to."""
EXCEPT = "except"
"""The flag of an exception that was caught."""


def condition_of(value: Value) -> Value:
    """A value as a condition: what comes from outside is a flag that stays the same."""
    return Flag(value.origin) if isinstance(value, Symbolic) else value


def truth_of(run: Run, value: Value) -> bool | None:
    """Whether a condition holds, or None where nothing is known."""
    match value:
        case Const():
            return bool(value.value)
        case Flag(key, negated):
            if key == AVAILABLE:
                return (run.world.accelerators > 0) is not negated
            return run.decide(value)
        case Symbolic():
            return run.decide(Flag(value.origin))
        case Tuple():
            return bool(value.items)
        case Stream(filled=True):
            return True
        case ListOf(ref):
            length = length_of(run, ref)
            return None if length is None else length > 0
        case DictOf(ref, site):
            return True if _is_filled(run, ref, site) else None
        case _:
            return True if isinstance(value, _TRUE) else None


def outcome_of(run: Run, condition: Value, test: cst.BaseExpression) -> bool | None:
    """How a test comes out: by what this path knows of what it asks, or by what is chosen.

    A setting of the world is one for all calls, and where the values decide, they do.
    """
    if isinstance(condition, Flag) and condition.key != AVAILABLE:
        known = known_answer(run, test)
        return truth_of(run, condition) if known is None else known
    truth = truth_of(run, condition)
    return known_answer(run, test) if truth is None else truth


def _is_filled(run: Run, ref: Ref, site: Site) -> bool:
    """Whether a dict was written with a key, and still has one."""
    if not isinstance(site, cst.Dict) or not any(
        isinstance(one, cst.DictElement) for one in site.elements
    ):
        return False
    return any(name.startswith("[") for name in run.state.fields(ref))


_TRUE = (Module, DeviceHandle, Function, Class, Partial, LibraryObject, NotMovable)
"""Objects without a length, which Python takes for true."""

_NOTHING: AbstractContextManager[None] = nullcontext()


def assuming(run: Run, condition: Value) -> AbstractContextManager[None]:
    """Walk under a condition: what is written there is somebody's choice, not hard-coded."""
    return _assuming(run, condition) if depends_on_choice(run, condition) else _NOTHING


@contextmanager
def _assuming(run: Run, condition: Value) -> Iterator[None]:
    unrelated, of_machine = is_unrelated(run, condition), is_machine(condition)
    run.assumptions += 1
    run.unrelated += unrelated
    run.of_machine += of_machine
    try:
        yield
    finally:
        run.assumptions -= 1
        run.unrelated -= unrelated
        run.of_machine -= of_machine


def is_unrelated(run: Run, condition: Value) -> bool:
    """Whether a condition that the code cannot tell says nothing of devices: `args.resume`."""
    match condition:
        case Flag(key=words) | Symbolic(origin=words):
            return words not in (EXCEPT, AVAILABLE) and not is_device_setting(run, words)
        case _:
            return False


def _asks_setting(condition: str) -> bool:
    """`args.train`, `opt.epoch != 0` or `training`, but not `score > best`."""
    owner, dot, _ = condition.partition(".")
    return owner.isidentifier() and not (dot and owner == "self")


def under_setting(run: Run, condition: Value, outcome: bool) -> AbstractContextManager[None]:
    """Walk a branch that a setting decides on."""
    if not isinstance(condition, Flag) or is_machine(condition):
        return _NOTHING
    if not _asks_setting(condition.key):
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
    return isinstance(condition, (Flag, Symbolic))


def is_machine(condition: Value) -> bool:
    """Whether a condition asks for an accelerator, or for none."""
    return isinstance(condition, Flag) and condition.key == AVAILABLE


def condition_at(run: Run, node: cst.BaseExpression) -> Value:
    """A test as a condition.

    One about devices whose outcome the code does not tell is a choice that stays the same.
    """
    value = condition_of(run.evaluate(node))
    if isinstance(value, (HostValue, Unknown)) and asks_for_device(run, node):
        if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
            return Flag(run.code_of(node.expression), negated=True)
        return Flag(run.code_of(node))
    return value


def choosing(run: Run, node: cst.BaseExpression, condition: Value) -> AbstractContextManager[None]:
    """Walk the branches of a test.

    Where it asks for a device by a setting (`if USE_CUDA:`) or by what it sees (`if x.is_cuda:`),
    whatever stands in a branch is chosen there, even where the outcome is known.
    """
    is_option = isinstance(condition, (Flag, Symbolic)) or _is_option(node)
    asks = not is_machine(condition) and asks_for_device(run, node, is_option=is_option)
    asks = asks and not (isinstance(condition, Const) and _asks_machine_alone(run, node))
    return _choosing(run, node, condition, asks)


def _asks_machine_alone(run: Run, node: cst.BaseExpression) -> bool:
    """`torch.cuda.device_count() > 1`: what the machine has chooses nothing of it."""
    match node:
        case cst.BooleanOperation(left=left, right=right):
            return _asks_machine_alone(run, left) and _asks_machine_alone(run, right)
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            return _asks_machine_alone(run, inner)
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(comparator=number)]):
            return isinstance(number, cst.Integer) and _asks_machine_alone(run, left)
        case cst.Call(func=cst.Attribute(attr=cst.Name("device_count" | "is_available")) as func):
            return isinstance(run.evaluate(func), ImportedName)
        case _:
            return False


def _is_option(node: cst.BaseExpression) -> bool:
    """`args.gpu`, `not USE_GPU`, `self.on_gpu()`."""
    if type(node) is cst.UnaryOperation:
        return _is_option(node.expression)
    return bool(name_of(node.func if type(node) is cst.Call and not node.args else node))


@contextmanager
def _choosing(run: Run, node: cst.BaseExpression, condition: Value, asks: bool) -> Iterator[None]:
    counted = asks and not isinstance(condition, Flag)
    run.steps.tested(node, condition)
    run.assumptions += counted
    run.device_choices += asks
    is_switch = counted and _is_switch(run, node)
    run.switches += is_switch
    is_decided = counted and isinstance(condition, Const) and not is_switch
    is_idle = asks and (is_decided or asks_for_place(run, node))
    idle = _weight(run, condition, counted) if is_idle else 0
    run.idle += idle
    try:
        run.steps.branches_entered(node)
        yield
    finally:
        run.steps.branches_left()
        run.assumptions -= counted
        run.device_choices -= asks
        run.switches -= is_switch
        run.idle -= idle


def _weight(run: Run, condition: Value, counted: bool) -> int:
    """How many conditions a test counts for in its branches."""
    assumed = depends_on_choice(run, condition) and not is_unrelated(run, condition)
    return counted + assumed


def _is_switch(run: Run, node: cst.BaseExpression) -> bool:
    """Whether a test asks what no call has decided: `USE_CUDA`, and no parameter of that name."""
    waiting: list[cst.CSTNode] = [node]
    while waiting:
        match waiting.pop():
            case cst.Name(name) if not _is_own(run, name):
                return True
            case cst.Attribute(value=cst.Name(name)) if run.lookup(name) != run.frame.receiver:
                return True
            case cst.Name():
                pass
            case cst.Attribute(value=owner):
                waiting.append(owner)
            case other:
                waiting.extend(children(other))
    return False


def _is_own(run: Run, name: str) -> bool:
    """Whether a name is a parameter or a variable of the function that is walked."""
    frame = run.frame
    return frame.ref != frame.home and run.state.read(frame.ref, name) is not None

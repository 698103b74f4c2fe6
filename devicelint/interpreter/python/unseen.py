"""What code gives that nobody sees: should it be a tensor, it has a device of its own.

One call in one frame has one device, and so has each part of what it gives.  The device bears the
lineage of the tensors that the call was given, since what is computed of them lies where they do.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import libcst as cst

from devicelint.domain.devices import (
    CPU,
    MAYBE_OF_NUMBERS,
    NOT_UNDERSTOOD,
    NOWHERE,
    ON_HOST,
    Device,
    DeviceOf,
    Unsure,
)
from devicelint.domain.history import Site, Step, Verb
from devicelint.domain.values import (
    Array,
    Batch,
    FileSource,
    Instance,
    ListOf,
    Module,
    Placed,
    Symbolic,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument
from devicelint.interpreter.engine.objects import member_of, module_device
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.steps import Notes
from devicelint.interpreter.engine.tables import resolves, settles
from devicelint.interpreter.facts.abstract_methods import is_overridden
from devicelint.interpreter.facts.tensor_parameters import is_doubted, is_proven, prove
from devicelint.interpreter.python.containers.contents import parts_of

_BRIEF = 40


class Places(Notes):
    """How the places of results are written: one for each expression and frame."""

    def __init__(self) -> None:
        self.written: dict[tuple[Site, ...], str] = {}
        self.count: dict[str, int] = {}

    def place(self, key: tuple[Site, ...], code: str, first: int = 1) -> str:
        """The code itself; what is written alike elsewhere has a number."""
        found = self.written.get(key)
        if found is None:
            number = self.count[code] = self.count.get(code, first - 1) + 1
            found = self.written[key] = code if number == 1 else f"{code} ({number})"
        return found


def result_of_unseen(
    run: Run, reason: str, given: Iterable[Value], site: cst.BaseExpression
) -> Unknown:
    """What an expression gives that works with some values, and whose doing nobody sees."""
    given = tuple(given)
    if any(isinstance(one, (Tensor, Batch, Placed)) or is_computed(run, one) for one in given):
        run.notes(_Computed).sites.add(site)
    device = DeviceOf(_place(run, site), lineage_of(run, given))
    return Unknown(reason, Step(Verb.GIVEN, site, device))


class _Computed(Notes):
    """What was given tensors, and may well have computed with them."""

    def __init__(self) -> None:
        self.sites: set[Site] = set()


def is_computed(run: Run, value: Value) -> bool:
    """Whether something comes of tensors: it is a result, rather than a model or an input."""
    symbol = value.symbol if isinstance(value, Unknown) else None
    return symbol is not None and symbol.site in run.notes(_Computed).sites


@settles(Unknown)
def settle_unknown(run: Run, value: Unknown, node: cst.BaseExpression) -> Value:
    """What nobody understands: should it be a tensor, that lies somewhere."""
    if value.symbol is not None or type(node) not in _GIVING:
        return value
    return keep_settled(run, value, replace(value, symbol=_own_step(run, node)), node)


@settles(Tensor)
def settle_tensor(run: Run, value: Tensor, node: cst.BaseExpression) -> Value:
    """A tensor of which nobody knows where it lies lies somewhere."""
    device = value.device
    if type(device) is not Unsure or type(node) not in _GIVING:
        return value
    if any(device is one for one in _MEANT):
        return value
    step = _own_step(run, node)
    return keep_settled(run, value, replace(value, device=step.device, since=step), node)


_MEANT = (NOWHERE, NOT_UNDERSTOOD, MAYBE_OF_NUMBERS)
_GIVING = frozenset({cst.Call, cst.Attribute, cst.Subscript, cst.Name})
"""Expressions that give what is there already, or what somebody makes."""


def _own_step(run: Run, node: cst.BaseExpression) -> Step:
    """What an expression gives has a device of its own, which nothing is known of."""
    first = 1 if isinstance(node, cst.Call) else 2
    return Step(Verb.GIVEN, node, DeviceOf(_place(run, node, first), frozenset()))


def keep_settled(run: Run, value: Value, settled: Value, node: cst.BaseExpression) -> Value:
    """A name stands for one thing until it is bound again, and so for one device."""
    if isinstance(node, cst.Name):
        scope = run.frame.scope_of(node.value, run.state)
        if run.state.read(scope, node.value) is value:
            run.state.write(scope, node.value, settled)
    return settled


def _place(run: Run, site: cst.BaseExpression, first: int = 1) -> str:
    places, key = run.notes(Places), (site, *run.frame.calls)
    return places.written.get(key) or places.place(key, _brief(run, site), first)


def _brief(run: Run, site: cst.BaseExpression) -> str:
    code = run.code_of(site)
    if isinstance(site, cst.Call) and (len(code) > _BRIEF or "\n" in code):
        return f"{run.code_of(site.func)}(…)"
    return code


def is_unseen_method(run: Run, receiver: Value, name: str) -> bool:
    """Whether a method is of something from outside, or of another class that is not seen."""
    if isinstance(receiver, (Module, Instance)):
        member = member_of(run, receiver.ref, name)
        return member is None or is_overridden(run, receiver, member)
    return isinstance(receiver, Symbolic)


def part_of(value: Unknown, part: str) -> Unknown:
    """What an item, an element or an attribute is of something that nobody sees."""
    step = value.symbol
    if step is None or not isinstance(step.device, DeviceOf):
        return Unknown("a part of something unknown")
    lineage = frozenset({step.device.place}) if step.device.lineage is None else step.device.lineage
    device = DeviceOf(f"{step.device.place}{part}", lineage)
    return replace(value, symbol=Step(Verb.GIVEN, step.site, device), unread=None)


def element_of_outside(value: Symbolic) -> Unknown:
    """What a collection holds that comes from outside."""
    reason = f"an element of {value.origin}"
    if value.since is None:
        return Unknown(reason, source=FileSource.CHOSEN)
    lineage = frozenset({_outermost(value.origin)})
    device = DeviceOf(f"{value.origin}[*]", lineage)
    return Unknown(reason, Step(Verb.GIVEN, value.since.site, device), FileSource.CHOSEN)


def is_element_of_outside(device: Device) -> bool:
    """Whether this is where an element is of a collection that comes from outside."""
    if not isinstance(device, DeviceOf) or device.lineage is None:
        return False
    held, marked, _ = device.place.partition("[*]")
    return bool(marked) and device.lineage == {_outermost(held)}


def is_setting(value: Value) -> bool:
    """Whether this is what somebody has chosen, in a file of settings or the environment.

    What a collection holds that a caller gives is no such choice, nor what is computed of one.
    """
    step = value.symbol if isinstance(value, Unknown) else None
    if step is None or not isinstance(step.device, DeviceOf):
        return False
    assert isinstance(value, Unknown)
    return value.source is FileSource.CHOSEN and "[*]" not in step.device.place


def _outermost(origin: str) -> str:
    return origin.partition(".")[0].partition("[")[0]


def is_derived(device: Device) -> bool:
    """Whether it is known from which tensors something was made that is not seen."""
    return isinstance(device, DeviceOf) and bool(device.lineage)


def lineage_of(run: Run, given: Iterable[Value]) -> frozenset[str]:
    """The places that the tensors among some values come from; none where they lie apart."""
    found: set[str] = set()
    for value in given:
        held = parts_of(run, value) if isinstance(value, (Tuple, ListOf)) else (value,)
        for device in (_device_of(run, one) for one in held):
            if isinstance(device, DeviceOf):
                found |= {device.place} if device.lineage is None else device.lineage
            elif device == CPU:
                found |= ON_HOST
            elif device is not None and not isinstance(device, Unsure):
                return frozenset()
    return frozenset() if found > ON_HOST else frozenset(found)


def _device_of(run: Run, value: Value) -> Device | None:
    match value:
        case Tensor() | Batch() | Placed():
            return value.device
        case Module():
            device = module_device(run, value).device
            return device if isinstance(device, DeviceOf) else None
        case Unknown(symbol=Step(device=device)):
            return device
        case Symbolic() if _is_input(run, value):
            return DeviceOf(value.origin)
        case _:
            return None


def _is_input(run: Run, value: Symbolic) -> bool:
    """Whether something is an input of a Module, as its `forward` is given it."""
    if value.since is None or not value.parameter or is_doubted(run, value.origin):
        return False
    return run.frame.name == "forward" and isinstance(run.frame.receiver, Module)


def computed_of_unseen(run: Run, node: cst.CSTNode, symbol: str, *sides: Argument) -> Value:
    """What is computed of what may be a tensor, and of numbers."""
    reason = f"operands of {symbol} are not understood"
    values = [one.value for one in sides]
    if any(isinstance(one, Array) for one in values):
        return Unknown(reason)
    steps = [step for one in values if (step := _symbol_of(one)) is not None]
    numbers = len(values) - sum(isinstance(one, (Unknown, Symbolic)) for one in values)
    if not steps or not isinstance(node, cst.BaseExpression):
        return Unknown(reason)
    if len(steps) + numbers == len(values) and len(set(steps)) == 1:
        return Unknown(reason, steps[0])
    return result_of_unseen(run, reason, values, node)


def _symbol_of(value: Value) -> Step | None:
    if isinstance(value, Symbolic) and value.since is not None:
        device = DeviceOf(value.origin, frozenset({value.origin}))
        return Step(Verb.GIVEN, value.since.site, device)
    return value.symbol if isinstance(value, Unknown) else None


def taken_for_tensor(run: Run, value: Value) -> Value:
    """What is not seen is used as only a tensor can be: it is one, on the device of its own."""
    if not isinstance(value, Unknown) or value.symbol is None:
        return value
    device = value.symbol.device
    if isinstance(device, DeviceOf):
        if is_doubted(run, device.place):
            return value
        prove(run, device.place)
    return Tensor(device, value.symbol)


@resolves(Unknown)
def as_used(run: Run, value: Unknown) -> Value:
    """A name that stands for something unseen: for a tensor, once it was used as one."""
    device = None if value.symbol is None else value.symbol.device
    if isinstance(device, DeviceOf) and is_proven(run, device.place):
        return taken_for_tensor(run, value)
    return value

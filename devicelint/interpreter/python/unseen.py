"""What code gives that nobody sees: should it be a tensor, it has a device of its own.

One call in one frame has one device, and so has each part of what it gives.  The device bears the
lineage of the tensors that the call was given, since what is computed of them lies where they do.
"""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from devicelint.domain.devices import Device, DeviceOf, Unsure
from devicelint.domain.history import Site, Step, Verb
from devicelint.domain.values import (
    Array,
    Batch,
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
from devicelint.interpreter.engine.tables import resolves
from devicelint.interpreter.facts.tensor_parameters import is_doubted, is_proven, prove
from devicelint.interpreter.python.containers.contents import parts_of

_BRIEF = 40


class Places(Notes):
    """How the places of results are written: one for each expression and frame."""

    def __init__(self) -> None:
        self.written: dict[tuple[Site, ...], str] = {}
        self.count: dict[str, int] = {}

    def place(self, key: tuple[Site, ...], code: str) -> str:
        """The code itself; what is written alike elsewhere has a number."""
        found = self.written.get(key)
        if found is None:
            number = self.count[code] = self.count.get(code, 0) + 1
            found = self.written[key] = code if number == 1 else f"{code} ({number})"
        return found


def result_of_unseen(
    run: Run, reason: str, given: Iterable[Value], site: cst.BaseExpression
) -> Unknown:
    """What an expression gives that works with some values, and whose doing nobody sees."""
    code = run.code_of(site)
    if isinstance(site, cst.Call) and (len(code) > _BRIEF or "\n" in code):
        code = f"{run.code_of(site.func)}(…)"
    place = run.notes(Places).place((site, *(one.site for one in run.frame.outwards())), code)
    return Unknown(reason, Step(Verb.GIVEN, site, DeviceOf(place, lineage_of(run, given))))


def is_unseen_method(run: Run, receiver: Value, name: str) -> bool:
    """Whether a method is of something from outside, or of a base that is not seen."""
    if isinstance(receiver, (Module, Instance)):
        return member_of(run, receiver.ref, name) is None
    return isinstance(receiver, Symbolic)


def part_of(value: Unknown, part: str) -> Unknown:
    """What an item, an element or an attribute is of something that nobody sees."""
    step = value.symbol
    if step is None or not isinstance(step.device, DeviceOf):
        return Unknown("a part of something unknown")
    lineage = frozenset({step.device.place}) if step.device.lineage is None else step.device.lineage
    device = DeviceOf(f"{step.device.place}{part}", lineage)
    return Unknown(value.reason, Step(Verb.GIVEN, step.site, device))


def element_of_outside(value: Symbolic) -> Unknown:
    """What a collection holds that comes from outside."""
    reason = f"an element of {value.origin}"
    if value.since is None:
        return Unknown(reason)
    lineage = frozenset({value.origin.partition(".")[0].partition("[")[0]})
    device = DeviceOf(f"{value.origin}[*]", lineage)
    return Unknown(reason, Step(Verb.GIVEN, value.since.site, device))


def is_derived(device: Device) -> bool:
    """Whether it is known from which tensors something was made that is not seen."""
    return isinstance(device, DeviceOf) and bool(device.lineage)


def lineage_of(run: Run, given: Iterable[Value]) -> frozenset[str]:
    """The places that the tensors among some values come from; none where one lies elsewhere."""
    found: set[str] = set()
    for value in given:
        held = parts_of(run, value) if isinstance(value, (Tuple, ListOf)) else (value,)
        for device in (_device_of(run, one) for one in held):
            if isinstance(device, DeviceOf):
                found |= {device.place} if device.lineage is None else device.lineage
            elif device is not None and not isinstance(device, Unsure):
                return frozenset()
    return frozenset(found)


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

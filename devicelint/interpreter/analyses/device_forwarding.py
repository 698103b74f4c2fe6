"""Device parameters that a call leaves to their defaults, although its caller has a device."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devicelint.domain.api_events import DeviceNotForwarded
from devicelint.domain.devices import (
    DeviceOf,
    InvalidDevice,
    Known,
    is_accelerator,
    parse_device,
)
from devicelint.domain.standing import CERTAIN, Level, Standing
from devicelint.domain.values import NONE, Const, DeviceHandle, Symbolic, Tensor, Value
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.hooks import EVERY_EVENT, Analysis, analysis
from devicelint.interpreter.engine.nodes import cached_of_nodes
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.device_words import USUAL_NAMES, takes_device
from devicelint.interpreter.facts.machines.around import is_taken_around
from devicelint.interpreter.facts.named_devices import devices_at_hand
from devicelint.interpreter.facts.tensor_parameters import declared


@analysis
class DeviceForwarding(Analysis):
    """Looks at the defaults that calls fall back on, and at what their callers have."""

    serves = EVERY_EVENT
    """An accelerator that is written out as a default is a demand, which decides on the worlds."""

    def on_defaulted(
        self, frame: Frame, parameter: cst.Param, value: Value, arguments: Arguments
    ) -> None:
        """A parameter was not given: where it is a device and the caller has one, announce that."""
        run, site, node = self.run, frame.site, frame.node
        if parameter.name.value not in USUAL_NAMES or site is None or run.device_choices:
            return
        if not isinstance(node, cst.FunctionDef) or not _is_device(node, parameter.name.value):
            return
        fixed, standing = _fixed(value), CERTAIN
        if isinstance(fixed, Known) and is_accelerator(fixed):
            if is_taken_around(run):
                return
            found = next(_at_hand(run, fixed, node, arguments), None)
            run.demands_accelerator |= found is not None
        elif fixed is not None or value == NONE or value == Const(""):
            found = _own_left_unused(run)
            standing = CERTAIN if found is None else _standing(run, found)
        else:
            return
        if found is not None:
            name, called = parameter.name.value, run.code_of(site.func)
            event = DeviceNotForwarded(site, called, name, parameter, found, fixed, standing)
            run.announce(event)


def _fixed(value: Value) -> Known | None:
    """The device that a default writes out."""
    if isinstance(value, DeviceHandle):
        return value.device if isinstance(value.device, Known) else None
    if not isinstance(value, Const) or not isinstance(value.value, str):
        return None
    try:
        return parse_device(value.value)
    except InvalidDevice:
        return None


def _at_hand(run: Run, fixed: Known, node: cst.FunctionDef, arguments: Arguments) -> Iterator[str]:
    """What the caller could pass instead of an accelerator that is written out."""
    for named in devices_at_hand(run, run.frame, fixed):
        if named.literal is None:
            yield named.code
    for name in USUAL_NAMES:
        held = run.state.read(run.frame.ref, name)
        if held is not None and not isinstance(held, (Const, DeviceHandle)):
            yield name
    parameters = [*node.params.posonly_params, *node.params.params]
    if parameters and parameters[0].name.value in ("self", "cls"):
        del parameters[0]
    for parameter, argument in zip(parameters, arguments.positional, strict=False):
        if isinstance(argument.site, cst.Name) and _is_callers(
            run, node, parameter, argument.value
        ):
            yield f"{argument.site.value}.device"


def _is_callers(run: Run, node: cst.FunctionDef, parameter: cst.Param, value: Value) -> bool:
    """Whether an argument is a tensor, wherever the caller's own caller keeps it."""
    if isinstance(value, Tensor):
        return isinstance(value.device, DeviceOf)
    if not isinstance(value, Symbolic) or not value.parameter:
        return False
    return declared(run, node, parameter) is not None


def _own_left_unused(run: Run) -> str | None:
    """The caller's own device parameter, where nothing in its body ever reads it.

    One with a default counts where a call gives it a device, or nothing in the file calls.
    """
    node = run.frame.node
    if not isinstance(node, cst.FunctionDef):
        return None
    given = _parameters(node)
    name = next((one for one in USUAL_NAMES if one in given), None)
    if name is None or name in _names_read(node):
        return None
    is_chosen = given[name].default is None or run.frame.site is None or _is_passed(run, name)
    return name if is_chosen else None


def _parameters(node: cst.FunctionDef) -> dict[str, cst.Param]:
    return {one.name.value: one for one in (*node.params.params, *node.params.kwonly_params)}


def _standing(run: Run, name: str) -> Standing:
    """How sure it is that the caller is told a device; who calls it decides on a default."""
    node = run.frame.node
    assert isinstance(node, cst.FunctionDef)
    parameter = _parameters(node)[name]
    if parameter.default is None or run.frame.site is not None:
        return CERTAIN
    received = frozenset({node, parameter})
    return Standing(Level.POSSIBLE, received, is_known=True, asks_calls=True)


def _is_passed(run: Run, name: str) -> bool:
    """Whether a call gives a function more for a device than None."""
    return run.state.read(run.frame.ref, name) not in (None, NONE, Const(""))


def _is_device(node: cst.FunctionDef, name: str) -> bool:
    """Whether a function uses a parameter as a device: by what it is given to."""
    return name in _used_as_devices(node)


@cached_of_nodes(32)
def _used_as_devices(node: cst.FunctionDef) -> frozenset[str]:
    reader = _Reader()
    node.body.visit(reader)
    return frozenset(reader.devices)


@cached_of_nodes(32)
def _names_read(node: cst.FunctionDef) -> frozenset[str]:
    reader = _Reader()
    node.body.visit(reader)
    return frozenset(reader.names)


class _Reader(cst.CSTVisitor):
    """Gathers the names that a body mentions, and those that it uses as devices."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.devices: set[str] = set()

    def visit_Name(self, node: cst.Name) -> None:
        self.names.add(node.value)

    def visit_Call(self, node: cst.Call) -> None:
        called = node.func.attr if isinstance(node.func, cst.Attribute) else node.func
        takes = isinstance(called, cst.Name) and takes_device(called.value)
        for one in node.args:
            by_name = one.keyword is not None and one.keyword.value in _DEVICE_KEYWORDS
            if by_name or takes:
                self.devices.update(_names_of(one.value))


def _names_of(node: cst.BaseExpression) -> Iterator[str]:
    """The names that an argument may stand for: `device`, `device or "cpu"`."""
    if isinstance(node, cst.Name):
        yield node.value
    elif isinstance(node, cst.BooleanOperation):
        yield from _names_of(node.left)
        yield from _names_of(node.right)


_DEVICE_KEYWORDS = frozenset({"device", "map_location", "dev", "torch_device"})

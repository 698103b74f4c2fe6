"""Where a caller's choice comes in: at a function that nobody in the file is seen to call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from devicelint.domain.devices import Device, DeviceOf, Opaque
from devicelint.domain.history import Site
from devicelint.domain.standing import Entry
from devicelint.domain.values import (
    Class,
    Function,
    ImportedName,
    Instance,
    Module,
    Value,
)
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.nodes import parameters_of
from devicelint.interpreter.engine.objects import CLASS_FIELD
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.host_callers import library_bases
from devicelint.interpreter.facts.item_paths import root_of
from devicelint.interpreter.facts.machines.choices import definition_of, entered_first
from devicelint.interpreter.facts.module_inputs import is_call_of_module

_CALLING_NOTHING = ("torch.nn.", "abc.ABC")
"""Bases that call no method of a class by themselves, but for what torch calls a Module with."""
_KEEPING_TO_CALLERS = ("torch.", "functools.", "contextlib.", "abc.")
"""Where the decorators lie that hand a function to nobody."""
_KINDS = frozenset({"staticmethod", "classmethod", "property"})


def entries_of(run: Run, devices: Iterable[DeviceOf]) -> frozenset[Entry]:
    """By which functions the devices came that callers choose; none where anybody may call them.

    What a decorator or a base of somebody else's gets hold of is called by nobody that is seen.
    """
    first = entered_first(run)
    if first is None or not isinstance(first.node, cst.FunctionDef) or _is_handed_out(run, first):
        return frozenset()
    cls = definition_of(run, first.receiver)
    named = _named_by_callers(run, first)
    roots = (root for device in devices for root in _roots(device))
    return frozenset(Entry(first.node, cls, root if root in named else "") for root in roots)


def named_by_callers(run: Run, devices: Iterable[Device]) -> frozenset[Entry]:
    """The parameters that name the devices, of what is called first or of its object's class."""
    first = entered_first(run)
    origins = {device.origin for device in devices if isinstance(device, Opaque)}
    return frozenset(
        Entry(function, cls, one.name.value)
        for function, cls in _constructed(run, first)
        for one in parameters_of(function)
        if one.name.value in origins
    )


def _constructed(run: Run, first: Frame | None) -> Iterator[tuple[cst.FunctionDef, Site]]:
    """The function that is called first, and the constructor of the object that it is called on."""
    if first is None or not isinstance(first.node, cst.FunctionDef):
        return
    made = first.receiver
    cls = run.state.read(made.ref, CLASS_FIELD) if isinstance(made, (Instance, Module)) else None
    if not isinstance(cls, Class):
        yield first.node, None
        return
    yield first.node, cls.node
    init = run.state.read(cls.ref, "__init__")
    node = init.node if isinstance(init, Function) else None
    if isinstance(node, cst.FunctionDef) and node is not first.node:
        yield node, cls.node


def _roots(device: DeviceOf) -> Iterator[str]:
    yield from map(root_of, device.lineage or (device.place,))


def _named_by_callers(run: Run, first: Frame) -> frozenset[str]:
    """The parameters that callers give by calling it by name; torch calls what a Module does."""
    name = first.name
    if is_call_of_module(run, first) or (name.startswith("__") and name.endswith("__")):
        return frozenset()
    node = first.node
    own = parameters_of(node) if isinstance(node, cst.FunctionDef) else ()
    return frozenset(one.name.value for one in own) - {"self"}


def _is_handed_out(run: Run, first: Frame) -> bool:
    if not all(one.startswith(_CALLING_NOTHING) for one in library_bases(run, first)):
        return True
    owners = (one.node for one in run.classes.values() if one.ref == first.owner)
    nodes = (first.node, *owners)
    decorated = (one for one in nodes if isinstance(one, (cst.FunctionDef, cst.ClassDef)))
    return any(not _keeps(run, one.decorator) for node in decorated for one in node.decorators)


def _keeps(run: Run, decorator: cst.BaseExpression) -> bool:
    """Whether what a decorator gives is called by those alone who name it."""
    named = decorator.func if isinstance(decorator, cst.Call) else decorator
    if isinstance(named, cst.Name) and named.value in _KINDS:
        return True
    value: Value | None = run.evaluate(named)
    return isinstance(value, (ImportedName, Class)) and value.name.startswith(_KEEPING_TO_CALLERS)

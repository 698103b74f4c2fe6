"""Copies of a caller's model, which may be kept on a device of their own.

The average of a model's weights is such a copy: it is updated with the model, wherever that is.
"""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devicelint.domain.devices import Device, DeviceOf, Opaque
from devicelint.domain.history import Step, Verb
from devicelint.domain.state import DEVICE_FIELD
from devicelint.domain.values import (
    TRUE,
    Array,
    Const,
    DeviceHandle,
    DictOf,
    HostValue,
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
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import function
from devicelint.interpreter.facts.mentions import mentions_in
from devicelint.interpreter.facts.tensor_parameters import note_module
from devicelint.interpreter.python.containers.fields import ELEMENT
from devicelint.interpreter.torch.modules.registration import any_parameter, built

_COPIED = "@copied"
_OF_MODULES = (
    *("parameters", "named_parameters", "buffers", "named_buffers", "modules", "named_modules"),
    *("state_dict", "load_state_dict"),
)


def copy_of_outside(run: Run, value: Symbolic, site: cst.Call) -> Value | None:
    """A copy of what a caller gives, where the code treats that as a module."""
    called = mentions_in(run.program.tree).methods
    treated = any(value.origin in called.get(method, ()) for method in _OF_MODULES)
    if value.since is None or not treated:
        return None
    copy = built(run, site, "copy", DeviceOf(value.origin))
    run.state.write(copy.ref, _COPIED, TRUE)
    return copy


def reached_by(run: Run, module: Module, target: Device) -> Device:
    """Where a move brings a module: a copy of a caller's, to a device of its own."""
    if isinstance(target, Opaque) and run.state.read(module.ref, _COPIED) is not None:
        return replace(target, apart=True)
    return target


def parameter_in(run: Run, module: Module | Symbolic) -> Value:
    """A parameter of a module; of a caller's, it is where that is."""
    if isinstance(module, Module):
        return any_parameter(run, module)
    if module.since is None:
        return Unknown(f"a parameter of {module.origin}")
    note_module(run, module.origin)
    device = DeviceOf(module.origin)
    return Tensor(device, Step(Verb.RECEIVED, module.since.site, device), None, True, "parameter")


def own_copies(run: Run, made: Module | Instance) -> list[tuple[Module, Placed]]:
    """The copies that a Module has brought to a device of their own, and where they are."""
    found = []
    for value in run.state.fields(made.ref).values():
        place = run.state.read(value.ref, DEVICE_FIELD) if isinstance(value, Module) else None
        if not (isinstance(value, Module) and isinstance(place, Placed)):
            continue
        if isinstance(place.device, Opaque) and place.device.apart:
            found.append((value, place))
    return found


@function("copy.deepcopy")
def deepcopy(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    given = arguments.get(0, "x")
    if given is None:
        return Unknown("deepcopy of nothing")
    if isinstance(given.value, Module):
        return copy_module(run, given.value, site)
    if isinstance(given.value, Symbolic):
        return copy_of_outside(run, given.value, site) or Unknown("a copy")
    return _copy_of(run, given.value, site, {})


def _copy_of(run: Run, value: Value, site: cst.CSTNode, copied: dict[object, Value]) -> Value:
    """A second value like the first; what holds others holds copies of them."""
    match value:
        case Tensor():
            return replace(value, home=None)
        case Module():
            return copy_module(run, value, site)
        case Tuple(items):
            return replace(value, items=tuple(_copy_of(run, one, site, copied) for one in items))
        case ListOf() | DictOf() | Instance():
            return copied.get(value.ref) or _copy_of_object(run, value, site, copied)
        case Const() | HostValue() | DeviceHandle() | Array():
            return value
        case _:
            return Unknown("a copy")


def _copy_of_object(
    run: Run,
    value: ListOf | DictOf | Instance,
    site: cst.CSTNode,
    copied: dict[object, Value],
) -> Value:
    copy = replace(value, ref=run.allocate(site, f"copy of {value.ref}"))
    copied[value.ref] = copy
    for name, held in tuple(run.state.fields(value.ref).items()):
        inner = held if name.startswith("@") and name != ELEMENT else None
        run.state.write(copy.ref, name, inner or _copy_of(run, held, site, copied))
    return copy


def copy_module(run: Run, module: Module, site: cst.CSTNode) -> Module:
    """A second module like the first, with modules of its own."""
    copy = Module(run.allocate(site, f"copy of {module.ref}"), module.name, module.since)
    for name, value in tuple(run.state.fields(module.ref).items()):
        inner = copy_module(run, value, site) if isinstance(value, Module) else value
        run.state.write(copy.ref, name, inner)
    return copy

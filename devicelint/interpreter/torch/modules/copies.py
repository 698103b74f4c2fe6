"""Copies of a caller's model, which may be kept on a device of their own.

The average of a model's weights is such a copy: it is updated with the model, wherever that is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import libcst as cst

from devicelint.domain.devices import Device, DeviceOf, Opaque
from devicelint.domain.history import Site, Step, Verb
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
    OneOf,
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
    return Copier(run, site, lambda tensor: replace(tensor, home=None)).copy(given.value)


@dataclass
class Copier:
    """Makes second values like the first; what holds others holds copies of them."""

    run: Run
    site: Site
    of_tensor: Callable[[Tensor], Tensor]
    of_module: Callable[[Module], None] = lambda _: None
    """What is done to the copy of a Module."""
    _copied: dict[object, ListOf | DictOf | Instance] = field(default_factory=dict)

    def copy(self, value: Value) -> Value:
        """The second value; unknown, for what is not understood."""
        match value:
            case Tensor():
                return self.of_tensor(value)
            case Module():
                made = copy_module(self.run, value, self.site)
                self.of_module(made)
                return made
            case Tuple(items):
                return replace(value, items=tuple(map(self.copy, items)))
            case OneOf(options):
                return replace(value, options=tuple(map(self.copy, options)))
            case ListOf() | DictOf() | Instance():
                return self._copied.get(value.ref) or self._object(value)
            case Const() | HostValue() | DeviceHandle() | Array() | Unknown():
                return value
            case _:
                return Unknown("a copy")

    def _object(self, value: ListOf | DictOf | Instance) -> Value:
        state = self.run.state
        made = replace(value, ref=self.run.allocate(self.site, f"copy of {value.ref}"))
        self._copied[value.ref] = made
        for name, held in tuple(state.fields(value.ref).items()):
            is_note = name.startswith("@") and name != ELEMENT
            state.write(made.ref, name, held if is_note else self.copy(held))
        return made


def copy_module(run: Run, module: Module, site: Site) -> Module:
    """A second module like the first, with modules of its own."""
    copy = Module(run.allocate(site, f"copy of {module.ref}"), module.name, module.since)
    for name, value in tuple(run.state.fields(module.ref).items()):
        inner = copy_module(run, value, site) if isinstance(value, Module) else value
        run.state.write(copy.ref, name, inner)
    return copy

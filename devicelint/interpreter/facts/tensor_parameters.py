"""Which of the things that come from outside are tensors, as their function treats them.

A proof lies in the state, under the origin of the thing, so that it ends with the function that
gave it.
"""

from __future__ import annotations

import libcst as cst

from devicelint.domain.devices import Device, DeviceOf
from devicelint.domain.history import Step, Verb
from devicelint.domain.state import State
from devicelint.domain.values import TRUE, Function, Symbolic, Tensor, Value
from devicelint.domain.worlds import World
from devicelint.interpreter.engine.nodes import parameters_of
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import resolves
from devicelint.interpreter.facts.annotations import (
    Annotated,
    annotated,
    may_be_none,
    said_to_be_on_host,
)
from devicelint.interpreter.facts.tensor_evidence import Evidence, evidence_in

_PROVEN, _DOUBTED, _OPTIONAL = "@proven", "@doubted", "@optional"
_RANKED, _MATRIX, _DECLARED, _USED = "@ranked", "@matrix", "@declared", "@used"
_HOLDER, _LOCATED, _SAID, _MODULE = "@holder", "@located", "@said", "@module"
_ON_HOST = "@on host"
IS_TENSOR = "is a tensor"
"""A question that a path has answered of a thing from outside."""
_OWNED = frozenset("weight bias running_mean running_var in_proj_weight in_proj_bias".split())
"""What stands beside `x.weight` where that is a tensor: `x` is a module then."""


def declare_tensors(run: Run, node: cst.FunctionDef) -> None:
    """Note what a function's text says of the parameters that nobody has given here."""
    evidence = _evidence(node)
    for origin in evidence.doubted:
        run.state.write(_DOUBTED, origin, TRUE)
    for origin in evidence.tensors:
        prove(run, origin)
    for origin in evidence.only_said:
        run.state.write(_SAID, origin, TRUE)
    for origin in evidence.used:
        note_used(run, origin)
    for origin in evidence.located:
        run.state.write(_LOCATED, origin, TRUE)
    for origin in evidence.holders:
        note_holder(run, origin)
    for origin in evidence.documented:
        run.state.write(_DECLARED, origin, TRUE)
    for origin in evidence.ranked | evidence.matrices:
        run.state.write(_RANKED, origin, TRUE)
    for origin in evidence.matrices:
        run.state.write(_MATRIX, origin, TRUE)


def _evidence(node: cst.FunctionDef) -> Evidence:
    names = [one.name.value for one in parameters_of(node)]
    first = names[1] if node.name.value == "forward" and len(names) > 1 else ""
    return evidence_in(node, frozenset(names), first)


def declared(run: Run, node: cst.FunctionDef, parameter: cst.Param) -> Tensor | None:
    """The tensor that a parameter is by the function's text, whatever it was given."""
    name, evidence = parameter.name.value, _evidence(node)
    said = annotated(run, parameter)
    is_annotated = said is Annotated.TENSOR
    if said not in (None, Annotated.TENSOR, Annotated.OPEN):
        return None
    if not is_annotated and (name not in evidence.tensors or name in evidence.doubted):
        return None
    if is_annotated or name in evidence.documented:
        run.state.write(_DECLARED, name, TRUE)
    device = DeviceOf(name)
    scalar = False if name in evidence.ranked else None
    return Tensor(device, Step(Verb.RECEIVED, parameter, device), scalar)


def settings_of(run: Run, function: Function) -> tuple[World, ...]:
    """The worlds in which to walk a function on its own: its optional tensors given, and not."""
    node = function.node
    if not isinstance(node, cst.FunctionDef):
        return (run.world,)
    optional = _optional(run, node)
    tested = [name for name in optional if f"{name} is " in run.code_of(node)]
    absent = [f"{name} is None" for name in tested if declared(run, node, optional[name])]
    if not absent:
        return (run.world,)
    return tuple(_choosing(run.world, absent, chosen) for chosen in (False, True))


def _choosing(world: World, keys: list[str], chosen: bool) -> World:
    for key in keys:
        world = world.choosing(key, chosen)
    return world


def _optional(run: Run, node: cst.FunctionDef) -> dict[str, cst.Param]:
    """The parameters that are None where nothing is given, or that say that they may be."""
    own = (*node.params.params, *node.params.kwonly_params)
    return {one.name.value: one for one in own if may_be_none(run, one)}


def declare_tensor(run: Run, name: str, parameter: cst.Param) -> None:
    """What the annotation and the default of a parameter say."""
    said = annotated(run, parameter)
    if said is Annotated.TENSOR:
        run.state.delete(_DOUBTED, name)
        run.state.delete(_SAID, name)
        run.state.write(_DECLARED, name, TRUE)
        prove(run, name)
    elif said in (Annotated.HOLDER, Annotated.OTHER):
        run.state.write(_DOUBTED, name, TRUE)
    if said is Annotated.HOLDER:
        run.state.write(_DECLARED, name, TRUE)
    on_host = said_to_be_on_host(run, parameter) if said is Annotated.OTHER else None
    run.state.delete(_ON_HOST, name)
    if on_host is not None:
        run.state.write(_ON_HOST, name, on_host)
    if parameter.default is not None or may_be_none(run, parameter):
        run.state.write(_OPTIONAL, name, TRUE)


def as_on_host(run: Run, value: Value) -> Value:
    """The numbers that a parameter is by its annotation, where a tensor is made of it."""
    said = run.state.read(_ON_HOST, value.origin) if isinstance(value, Symbolic) else None
    return value if said is None else said


def prove(run: Run, origin: str) -> None:
    """A thing was treated as only a tensor can be."""
    if not is_doubted(run, origin):
        run.state.write(_PROVEN, origin, TRUE)


def note_used(run: Run, origin: str) -> None:
    """A thing was asked for what numbers do not have."""
    run.state.write(_USED, origin, TRUE)


def is_used(run: Run, origin: str) -> bool:
    """Whether a thing is asked for what numbers do not have."""
    return any(run.state.read(one, origin) is not None for one in (_USED, _LOCATED))


def note_holder(run: Run, origin: str) -> None:
    """A thing was asked for what no tensor has."""
    run.state.write(_HOLDER, origin, TRUE)


def is_holder(run: Run, value: Symbolic) -> bool:
    """Whether a thing from outside has a device that was chosen, and nothing makes it a tensor."""
    if run.state.read(_HOLDER, value.origin) is not None:
        return True
    return run.state.read(_USED, value.origin) is None


def is_only_said(run: Run, origin: str) -> bool:
    """Whether nothing but a docstring says that a thing is a tensor."""
    return run.state.read(_SAID, origin) is not None


def confirm(run: Run, origin: str) -> None:
    """More than a docstring says that a thing is a tensor."""
    if run.state.read(_SAID, origin) is not None:
        run.state.delete(_SAID, origin)


def is_doubted(run: Run, origin: str) -> bool:
    """Whether the function asks of a thing what it is, so that one path proves nothing."""
    if run.state.read(_DOUBTED, origin) is None:
        return False
    return run.state.facts.get((IS_TENSOR, origin)) is not True


def is_no_tensor_here(run: Run, origin: str) -> bool:
    """Whether a question on this path has shown that a thing is a number, or a container."""
    return run.state.facts.get((IS_TENSOR, origin)) is False


def is_no_tensor_on(path: State, device: Device) -> bool:
    """Whether a path has found that the thing is none whose device this would be."""
    return isinstance(device, DeviceOf) and path.facts.get((IS_TENSOR, device.place)) is False


def is_proven(run: Run, origin: str) -> bool:
    """Whether a thing from outside is a tensor for sure."""
    shown = run.state.facts.get((IS_TENSOR, origin))
    if shown is not None or is_doubted(run, origin):
        return shown is True
    if run.state.read(_PROVEN, origin) is not None:
        return True
    owner, _, name = origin.rpartition(".")
    return name in _OWNED and bool(owner) and _proves_module(run, owner)


def _proves_module(run: Run, owner: str) -> bool:
    return run.state.read(_PROVEN, f"{owner}.weight") is not None


def note_module(run: Run, origin: str) -> None:
    """A thing gives its parameters, as only a module does."""
    run.state.write(_MODULE, origin, TRUE)


def is_part_of_module(run: Run, place: str) -> bool:
    """Whether a tensor is one of what a caller's module owns, which goes where the module goes."""
    owner, _, name = place.rpartition(".")
    if name in _OWNED and owner:
        return is_proven(run, place)
    return run.state.read(_MODULE, place) is not None


def is_declared(run: Run, place: str) -> bool:
    """Whether the function says itself that it takes a tensor, or something that holds some."""
    return run.state.read(_DECLARED, place.partition(".")[0]) is not None


def absence_of(run: Run, value: Value) -> str | None:
    """The flag that a tensor from outside is missing, where its parameter has a default."""
    if not (isinstance(value, Tensor) and isinstance(value.device, DeviceOf)):
        return None
    place = value.device.place
    optional = run.state.read(_OPTIONAL, place) is not None or place.endswith(".bias")
    return f"{place} is None" if optional and value.since.verb is Verb.RECEIVED else None


@resolves(Symbolic)
def as_proven(run: Run, value: Symbolic) -> Value:
    """A thing from outside: the tensor that it is, where that is proven."""
    if value.since is None or not is_proven(run, value.origin):
        return value
    device = DeviceOf(value.origin)
    scalar = False if run.state.read(_RANKED, value.origin) is not None else None
    return Tensor(device, Step(Verb.RECEIVED, value.since.site, device), scalar)


def rank_of_part(run: Run, value: Tensor, site: object) -> bool | None:
    """Whether `x[0]` is 0-dim: not where `x` is known to have two dimensions."""
    if value.is_matrix:
        return False
    if not (isinstance(value.device, DeviceOf) and isinstance(site, (cst.Name, cst.Attribute))):
        return None
    place = value.device.place
    is_matrix = run.state.read(_MATRIX, place) is not None
    return False if is_matrix and run.code_of(site) == place else None

"""Modules that are given a device as they are built: all that they make belongs there.

`nn.Linear(n, n, device=device)` beside `nn.Linear(n, n)`: torch's own layers take `device` for all
of their parameters, and whoever gives it to a Module does not expect that one part ignores it.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devicelint.domain.api_events import PartMadeElsewhere
from devicelint.domain.devices import CPU, Device, Opaque
from devicelint.domain.events import Operand
from devicelint.domain.history import Site, Verb
from devicelint.domain.standing import Level, Standing
from devicelint.domain.values import Class, Function, Instance, Module, Placed, Tensor
from devicelint.interpreter.engine.nodes import descendants, parameters_of
from devicelint.interpreter.engine.objects import class_member, module_device
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.torch.modules.registration import owns_tensors, submodules
from devicelint.knowledge import ModuleKind, module_class

_UNLESS_MOVED = Standing(Level.POSSIBLE, is_known=True)
_MADE = (Verb.BUILT, Verb.CREATED, Verb.CREATED_ON)


def is_made_apart(run: Run, made: Module | Instance) -> bool:
    """Whether a Module makes one part on a device that it was given, and another on the CPU."""
    if not isinstance(made, Module):
        return False
    devices = [place.device for _, place in _made_parts(run, made, "parameter")]
    return CPU in devices and any(isinstance(one, Opaque) for one in devices)


def announce_made_apart(run: Run, cls: Class, made: Module | Instance) -> None:
    """Announce what a Module makes on the CPU, beside a part on a device that it was given.

    A tensor without dimensions gets along with those of any device, and a container has none.
    Where the other part is moved there as it is built, that says less: whoever has the Module may
    move all of it, as is usual, so that it counts where nobody is seen to have it.
    """
    parts = list(_made_parts(run, made, "parameter", "buffer")) if isinstance(made, Module) else []
    beside = next((place for _, place in parts if isinstance(place.device, Opaque)), None)
    is_made_there = beside is not None
    if beside is None and isinstance(made, Module):
        beside = _moved_part(run, made)
    if beside is None:
        return
    told = Standing(Level.CERTAIN, _told_by(run, cls, beside.device))
    standing = told if is_made_there else _UNLESS_MOVED
    other = Operand(beside.since.site, made, beside.device, beside.since)
    for part, place in parts:
        if isinstance(part, Module) and _has_apart(run, part):
            continue  # What it lacks is said of its own parts.
        if place.device == CPU and _has_place(part) and place.since.site in run.made_in:
            takes_same = _is_of_torch(part) and _is_made_by(run, place.since.site, other.site)
            is_module = isinstance(part, Module)
            event = PartMadeElsewhere(place.since, is_module, cls.node, other, takes_same, standing)
            run.announce(event)


def _has_apart(run: Run, part: Module) -> bool:
    """Whether a part, or one inside of it, is told the device and makes its own parts apart."""
    return any(is_made_apart(run, one) for one in (part, *submodules(run, part)))


def _told_by(run: Run, cls: Class, device: Device) -> frozenset[Site]:
    """The parameter of the constructor that names a device, with the constructor and its class."""
    init = class_member(run, cls, "__init__")
    node = init.node if isinstance(init, Function) else None
    if not isinstance(node, cst.FunctionDef) or not isinstance(device, Opaque):
        return frozenset()
    named = (one for one in parameters_of(node) if one.name.value == device.origin)
    parameter = next(named, None)
    return frozenset() if parameter is None else frozenset({cls.node, node, parameter})


def _moved_part(run: Run, made: Module) -> Placed | None:
    """Where a part is that a Module moves to a device that it was given, and not as a whole."""
    for name, value in run.state.fields(made.ref).items():
        if isinstance(value, Module) and not name.startswith("@"):
            place = module_device(run, value)
            if place.since.verb is Verb.MOVED and isinstance(place.device, Opaque):
                return place
    return None


def _has_place(part: Tensor | Module) -> bool:
    if isinstance(part, Tensor):
        return part.scalar is False
    knowledge = module_class(part.name)
    return knowledge is None or knowledge.kind not in (ModuleKind.CONTAINER, ModuleKind.WRAPPER)


def _is_of_torch(part: Tensor | Module) -> bool:
    return isinstance(part, Tensor) or module_class(part.name) is not None


def _is_made_by(run: Run, one: Site, other: Site) -> bool:
    """Whether the function that makes one part makes the other one as well."""
    node = run.made_in[one][0].node
    return any(inner is other for inner in descendants(node))


def _made_parts(
    run: Run, made: Module, *roles: str
) -> Iterator[tuple[Tensor | Module, Tensor | Placed]]:
    """What it owns and was made and not moved since, each with where it is."""
    for name, value in run.state.fields(made.ref).items():
        if name.startswith("@"):
            continue
        if isinstance(value, Module) and owns_tensors(run, value):
            place = module_device(run, value)
            if place.since.verb in _MADE:
                yield value, place
        elif isinstance(value, Tensor) and value.role in roles and value.since.verb in _MADE:
            yield value, value

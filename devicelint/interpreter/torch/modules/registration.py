"""What a Module owns: parameters, buffers and submodules follow `.to()`, the rest does not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from devicelint.domain.alternatives import cases_of, one_of
from devicelint.domain.devices import CPU, Device, DeviceOf, Unsure, join_devices
from devicelint.domain.events import ParameterLost
from devicelint.domain.history import Keeper, Site, Step, Verb
from devicelint.domain.join import join, join_known
from devicelint.domain.standing import Level, Standing
from devicelint.domain.state import DEVICE_FIELD
from devicelint.domain.values import (
    Const,
    DictOf,
    ListOf,
    Module,
    OneOf,
    Owned,
    Placed,
    Ref,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.objects import TENSORS, module_device, names_buffer
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.steps import Notes
from devicelint.interpreter.facts.entries import named_by_callers
from devicelint.interpreter.facts.module_inputs import is_being_made
from devicelint.interpreter.facts.moved_back import note_module_moved
from devicelint.interpreter.python.containers.contents import extend
from devicelint.interpreter.torch.modules.children import keep_in_order
from devicelint.interpreter.torch.modules.overrides import moves_by_itself
from devicelint.interpreter.torch.modules.submodules import WHOLE_FIELD
from devicelint.knowledge import ModuleKind, module_class


class PlainlyKept(Notes):
    """The modules that lie in a plain container of another one, unregistered."""

    def __init__(self) -> None:
        self.refs: dict[Ref, Site] = {}
        """Each with where the container is made."""
        self.asked: set[Ref] = set()
        """Modules that were asked for what they have before it was known where they are kept."""


_ASKS = frozenset({"parameters", "named_parameters", "state_dict"})
_SEES_TO = _ASKS | {"to", "cuda", "cpu"}


def note_seen_to(run: Run, module: Module, method: str) -> None:
    """A module that lies in a plain container is moved, or asked for what it has, by itself.

    Who moves it while the module around is made leaves it to no optimizer.
    """
    if method not in _SEES_TO:
        return
    kept = run.notes(PlainlyKept)
    container = kept.refs.get(module.ref)
    if container is not None:
        run.program.conduct.seen_to.add(container)
    elif method in _ASKS:
        kept.asked.add(module.ref)


def register(
    run: Run,
    owner: Module,
    name: str,
    value: Value,
    target: cst.BaseExpression,
    site: cst.BaseExpression,
) -> None:
    """`self.name = value` on a Module, or `setattr(self, name, value)`, as torch takes it."""
    if isinstance(value, Tensor) and names_buffer(run, owner, name):
        value = replace(value, role="buffer")
    elif isinstance(value, Tensor) and value.role != "parameter":
        # A buffer of another name, or of another module, is a plain tensor here, and stays behind.
        value = replace(value, role="" if value.role == "buffer" else value.role)
        if value.role == "lost":
            announce_lost(run, value, target, registered=True)
        if value.since.kept is None and is_being_made(run, owner):
            since = replace(value.since, kept=Keeper(owner.name, name, target))
            value = replace(value, since=since)
    elif isinstance(value, Tensor) and value.role == "parameter":
        _follow(run, owner, value)
    keep_in_order(run, owner, name, value)
    run.state.write(owner.ref, name, value)
    if isinstance(value, (ListOf, Tuple, DictOf)):
        run.state.write(owner.ref, f"@site:{name}", _as_site(run, site))


def register_somewhere(run: Run, owner: Module, value: Value) -> None:
    """Something is registered under a name that is not known: parts in their order."""
    if isinstance(value, (Module, OneOf)):
        extend(run, owner.ref, value)
    elif isinstance(value, Tensor) and value.role in ("parameter", "buffer"):
        held = join_known(run.state.read(owner.ref, TENSORS) or value, value)
        run.state.write(owner.ref, TENSORS, held)


def _as_site(run: Run, site: cst.BaseExpression) -> Value:
    return Const(True, site)


def announce_lost(run: Run, tensor: Tensor, site: object, *, registered: bool) -> None:
    """A Parameter that was moved is a plain tensor when it arrives here."""
    standing = Standing(Level.CERTAIN, entries=named_by_callers(run, (tensor.device,)))
    run.announce(ParameterLost(site, tensor.since.site, tensor, registered, standing))


def _follow(run: Run, owner: Module, value: Tensor) -> None:
    """A Module without a device of its own is where its first parameter is."""
    place = run.state.read(owner.ref, DEVICE_FIELD)
    if isinstance(value.device, Unsure) or value.device == CPU:
        return
    if isinstance(place, Placed) and place.device == CPU:
        run.state.write(owner.ref, DEVICE_FIELD, Placed(value.device, value.since))


def move_module(run: Run, module: Value, device: Device, since: Step) -> None:
    """`.to(device)` on a Module: all that it registered moves, in place."""
    _move(run, module, Placed(device, since), set())


def move_registered(run: Run, module: Module, place: Placed) -> None:
    """What `super()._apply(fn)` does: the parts move, each by its own `_apply`, and the rest."""
    _move_all_of(run, module, place, set())


def _move(run: Run, module: Value, place: Placed, seen: set[object]) -> None:
    if isinstance(module, OneOf):
        for option in module.options:
            _move(run, option, place, seen)
        return
    if not isinstance(module, Module) or module.ref in seen:
        return
    if not moves_by_itself(run, module, place):
        _move_all_of(run, module, place, seen)


def _move_all_of(run: Run, module: Module, place: Placed, seen: set[object]) -> None:
    whole = run.state.read(module.ref, WHOLE_FIELD)
    if isinstance(whole, Tuple) and not any(
        getattr(one, "ref", None) in seen for one in whole.items
    ):
        place = replace(place, device=Unsure("a part of a model moves, and others may stay"))
    seen.add(module.ref)
    note_module_moved(run, module, run.state.read(module.ref, DEVICE_FIELD), place)
    run.state.write(module.ref, DEVICE_FIELD, place)
    for name, value in tuple(run.state.fields(module.ref).items()):
        if not isinstance(value, (Module, Tensor, OneOf)):
            continue
        _move(run, value, place, seen)
        moved = one_of((_moved(one, place), path) for one, path in cases_of(value))
        if moved != value:
            run.state.write(module.ref, name, moved)


def _moved(value: Value, place: Placed) -> Value:
    """What a Module has of its own follows it; a part of it moves by itself."""
    if not isinstance(value, Tensor):
        return value
    if value.role in ("parameter", "buffer"):
        return replace(value, device=place.device, since=place.since)
    if value.role == "either":
        return replace(value, device=join_devices(value.device, place.device))
    return value


def submodules(run: Run, module: Module) -> Iterator[Module]:
    """Everything that a Module registered, itself included."""
    waiting: list[Module] = [module]
    seen: set[object] = set()
    while waiting:
        one = waiting.pop()
        if one.ref in seen:
            continue
        seen.add(one.ref)
        yield one
        for value in run.state.fields(one.ref).values():
            options = value.options if isinstance(value, OneOf) else (value,)
            waiting.extend(option for option in options if isinstance(option, Module))


def owns_tensors(run: Run, module: Module, *, made: bool = False) -> bool:
    """Whether a Module, or one that it registered, has parameters or buffers.

    Where `made` is asked for, those that are as somebody has given them do not count.
    """
    for one in submodules(run, module):
        knowledge = module_class(one.name)
        if knowledge is not None and knowledge.owns_tensors:
            return True
        if knowledge is not None and knowledge.kind is ModuleKind.LOSS:
            continue
        fields = run.state.fields(one.ref).values()
        own = (v for v in fields if isinstance(v, Tensor) and v.role in ("parameter", "buffer"))
        if any(not (made and isinstance(one.device, (DeviceOf, Unsure))) for one in own):
            return True
    return False


def is_without_tensors(run: Run, module: Module) -> bool:
    """Whether a Module certainly has nothing to move, such as a loss without weights."""
    for one in submodules(run, module):
        knowledge = module_class(one.name)
        if knowledge is None or knowledge.kind is ModuleKind.WRAPPER or knowledge.owns_tensors:
            return False
        held = (v for n, v in run.state.fields(one.ref).items() if n != DEVICE_FIELD)
        if not all(isinstance(value, (Module, Const)) for value in held):
            return False
    return True


def any_parameter(run: Run, module: Module) -> Value:
    """One of the parameters of a Module, or of one that it registered."""
    found = _one_parameter(run, module)
    return replace(found, home=Owned(module)) if isinstance(found, Tensor) else found


def _one_parameter(run: Run, module: Module) -> Value:
    joined: Value | None = None
    for one in submodules(run, module):
        knowledge = module_class(one.name)
        if knowledge is not None and knowledge.owns_tensors:
            joined = join(joined, parameter_of(run, one))
        for value in run.state.fields(one.ref).values():
            if isinstance(value, Tensor) and value.role == "parameter":
                joined = join(joined, replace(value, scalar=None))
    if joined is None and run.state.read(module.ref, DEVICE_FIELD) is not None:
        return replace(parameter_of(run, module), scalar=None)
    return Unknown("a parameter") if joined is None else joined


def any_buffer(run: Run, module: Module) -> Value:
    """One of the buffers of a Module, or of one that it registered."""
    joined: Value | None = None
    for one in submodules(run, module):
        for value in run.state.fields(one.ref).values():
            if isinstance(value, Tensor) and value.role == "buffer":
                joined = join(joined, replace(value, scalar=None))
    if not isinstance(joined, Tensor):
        return Unknown("a buffer")
    return replace(joined, home=Owned(module))


def built(run: Run, node: cst.CSTNode, name: str, device: Device = CPU) -> Module:
    """A new Module, with its device."""
    since = Step(Verb.BUILT, node, device)
    run.note_made(node)
    module = Module(run.allocate(node, name), name, since)
    run.state.write(module.ref, DEVICE_FIELD, Placed(device, since))
    run.steps.module_built(module)
    return module


def parameter_of(run: Run, module: Module) -> Tensor:
    """One of a module's parameters: it is where the module is."""
    place = module_device(run, module)
    return Tensor(place.device, place.since, False, True, "parameter")

"""`p.data = t`: the tensor `p` stays the object that it is, and lies where `t` does."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devicelint.domain.devices import CPU, Unsure
from devicelint.domain.history import Step, Verb
from devicelint.domain.state import DEVICE_FIELD
from devicelint.domain.values import ListOf, Module, Owned, Placed, Tensor, Value
from devicelint.interpreter.engine.objects import module_device
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.python.assignment import assign
from devicelint.interpreter.torch.modules.registration import submodules
from devicelint.interpreter.torch.operations.operands import operand_of


def set_data(
    run: Run, owner: Tensor, value: Value, target: cst.Attribute, site: cst.BaseExpression
) -> None:
    """All that hold the tensor find it where the data are: its Module, its list, its name."""
    place = place_of_data(value, site)
    if owner.home is not None:
        put_data(run, owner.home, owner.role, place)
    moved = replace(owner, device=place.device, since=place.since)
    held = target.value
    if not isinstance(held, cst.Name):
        if owner.home is None:
            assign(run, held, moved, site)
        return
    run.state.write(run.frame.scope_of(held.value, run.state), held.value, moved)
    bound = run.frame.bindings.get(held.value)
    if isinstance(bound, cst.For) and bound.target.deep_equals(held):
        _put_in_list(run, run.evaluate(bound.iter), place)


def place_of_data(value: Value, site: cst.BaseExpression) -> Placed:
    """Where data are that are put into a tensor, and since when."""
    given = operand_of(value, site)
    if given is None or given.since is None:
        device = Unsure("its data are not known")
        return Placed(device, Step(Verb.COMPUTED, site, device))
    return Placed(given.device, given.since)


def put_data(run: Run, home: Owned, role: str, place: Placed) -> None:
    """The parameters, or buffers, of a Module get data of another place: one, or each of them.

    What is there already stays as it was made.
    """
    if not isinstance(home.module, Module):
        return
    for one in submodules(run, home.module) if not home.name else (home.module,):
        for name, value in tuple(run.state.fields(one.ref).items()):
            is_meant = home.name in ("", name)
            if not (is_meant and isinstance(value, Tensor) and value.role == role):
                continue
            if value.device != place.device:
                moved = replace(value, device=place.device, since=place.since)
                run.state.write(one.ref, name, moved)
        is_moved = not home.name and module_device(run, one).device != place.device
        if is_moved and role == "parameter":
            run.state.write(one.ref, DEVICE_FIELD, place)
    if home.name and home.name not in run.state.fields(home.module.ref):
        _put_in_leaf(run, home.module, home.name, place, role)


def _put_in_leaf(run: Run, module: Module, name: str, place: Placed, role: str) -> None:
    """A parameter of one of torch's own modules: what was only built goes where its data are."""
    own = module_device(run, module)
    if own.device == place.device:
        return
    if own.since.verb is Verb.BUILT and own.device == CPU:
        run.state.write(module.ref, DEVICE_FIELD, place)
        return
    tensor = Tensor(place.device, place.since, False, True, role)
    run.state.write(module.ref, name, tensor)


def _put_in_list(run: Run, held: Value, place: Placed) -> None:
    if not isinstance(held, ListOf):
        return
    for name, value in tuple(run.state.fields(held.ref).items()):
        if isinstance(value, Tensor):
            moved = replace(value, device=place.device, since=place.since)
            run.state.write(held.ref, name, moved)

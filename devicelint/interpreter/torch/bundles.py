"""Bundles: what an object of a library holds, and where. It is moved in place, with all of that."""

from __future__ import annotations

import functools
from dataclasses import replace

import libcst as cst

from devicelint.domain.devices import Device, Unsure
from devicelint.domain.history import Site, Step, Verb
from devicelint.domain.state import DEVICE_FIELD
from devicelint.domain.values import (
    HOST,
    Batch,
    Const,
    DeviceHandle,
    HostValue,
    Placed,
    Stream,
    Tensor,
    TensorDict,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.nodes import descendants
from devicelint.interpreter.engine.objects import (
    fresh,
)
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import (
    attributes,
    elements,
    items,
    sets_attribute,
    sets_item,
    spreads,
)
from devicelint.interpreter.python.containers.subscripts import key_of
from devicelint.knowledge import member_mark


def make_bundle(run: Run, name: str, place: Placed, site: Site) -> TensorDict:
    """A new object that holds tensors at a place."""
    bundle = TensorDict(run.allocate(site, "bundle"), name)
    run.state.write(bundle.ref, DEVICE_FIELD, place)
    return bundle


def place_of(run: Run, bundle: TensorDict) -> Placed:
    """Where what it holds is, and since when."""
    place = run.state.read(bundle.ref, DEVICE_FIELD)
    if isinstance(place, Placed):
        return place
    nowhere = Unsure("the object is not known")
    return Placed(nowhere, Step(Verb.COMPUTED, bundle, nowhere))


def move_bundle(run: Run, bundle: TensorDict, device: Device, since: Step) -> None:
    """All that it holds moves, in place."""
    for name, value in tuple(run.state.fields(bundle.ref).items()):
        if isinstance(value, (Tensor, Batch)):
            run.state.write(bundle.ref, name, replace(value, device=device, since=since))
    run.state.write(bundle.ref, DEVICE_FIELD, Placed(device, since))


def held_by(run: Run, bundle: TensorDict, name: str, site: Site) -> Value:
    """What lies under a name: what was put there, or what the library's class keeps there."""
    written = run.state.read(bundle.ref, name)
    if written is not None:
        return written
    place = place_of(run, bundle)
    match member_mark(bundle.name, name):
        case "Held":
            return Tensor(place.device, place.since, False, False)
        case "HeldByName":
            return Batch(place.device, place.since)
        case "Hosted":
            return HOST
        case "Same":
            return bundle
        case "Device":
            return DeviceHandle(place.device, site)
        case _:
            return Unknown(f"{bundle.name}.{name} is not known")


def item_held(run: Run, bundle: TensorDict, key: Value | None, site: Site) -> Value:
    """`bundle["input_ids"]`, which is `bundle.input_ids`; of what has an order, `bundle[0]`."""
    if isinstance(key, Const) and isinstance(key.value, str):
        held = held_by(run, bundle, key.value, site)
        return _store(run, bundle, site) or held if isinstance(held, Unknown) else held
    if _has_order(bundle) and isinstance(key, (Const, HostValue)):
        return _one_in_order(run, bundle)
    return Unknown("an item of a library's object")


def _has_order(bundle: TensorDict) -> bool:
    """Whether its parts have numbers, too, as those of a named tuple do."""
    return member_mark(bundle.name, "__getitem__") == "HeldInOrder"


def _one_in_order(run: Run, bundle: TensorDict) -> Batch:
    """A tensor or several, as far as nobody has put anything else there."""
    place = place_of(run, bundle)
    return Batch(place.device, place.since)


def _store(run: Run, bundle: TensorDict, site: Site) -> TensorDict | None:
    """`data["author"]`: a part of a graph is where the graph is, if nothing else is put into it."""
    whole = site.value if isinstance(site, cst.Subscript) else None
    is_graph = member_mark(bundle.name, "edge_index") == "Held"
    if not is_graph or not isinstance(whole, cst.Name):
        return None
    if whole.value in _changed(run.program.tree):
        return None
    return fresh(run, bundle, site)


@functools.lru_cache(maxsize=1)
def _changed(tree: cst.Module) -> frozenset[str]:
    """The names of things whose parts get other values, or are gone through one by one."""
    found: set[str] = set()
    for node in descendants(tree):
        match node:
            case cst.AssignTarget(target=target) | cst.AugAssign(target=target):
                found.update(filter(None, map(_owner, descendants(target))))
            case cst.For(iter=held) | cst.CompFor(iter=held):
                found.update(_owner(one) for one in descendants(held) if _gives_parts(one))
            case _:
                pass
    return frozenset(found)


def _owner(node: cst.CSTNode) -> str:
    """The name of what a part is taken of: `data` in `data["author"].x`."""
    part = node
    while isinstance(node, (cst.Attribute, cst.Subscript)):
        node = node.value
    return node.value if isinstance(node, cst.Name) and node is not part else ""


def _gives_parts(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Attribute) and node.attr.value.endswith(("stores", "items"))


def any_held(run: Run, bundle: TensorDict) -> Value:
    """Any of the tensors in it, where all of them are known to lie together."""
    if member_mark(bundle.name, "anything") != "Held":
        return Unknown("one of the things in a library's object")
    place = place_of(run, bundle)
    return Tensor(place.device, place.since, False, False)


@spreads(TensorDict)
def _spread(run: Run, arguments: Arguments, bundle: TensorDict, site: cst.BaseExpression) -> None:
    """`**bundle`: the names that were put into it, and tensors of names that are not known."""
    arguments.open = True
    arguments.spread.append(Argument(site, any_held(run, bundle)))
    for name, value in run.state.fields(bundle.ref).items():
        if not name.startswith("@"):
            arguments.keywords[name] = Argument(site, value)


def as_batch(run: Run, value: Value) -> Value:
    """What a module is given, as far as it is compared with the module's place."""
    if isinstance(value, TensorDict):
        place = place_of(run, value)
        return Batch(place.device, place.since)
    return value


@attributes(TensorDict)
def of_bundle(run: Run, value: TensorDict, name: str, node: cst.Attribute) -> Value:
    return held_by(run, value, name, node)


@elements(TensorDict)
def _name_in_bundle(run: Run, value: TensorDict, site: Site) -> Value:
    return HOST


@items(TensorDict)
def _item_of_bundle(run: Run, value: TensorDict, node: cst.Subscript) -> Value:
    key = key_of(run, node)
    if _has_order(value) and isinstance(node.slice[0].slice, cst.Slice):
        return Stream(_one_in_order(run, value), filled=True)
    return item_held(run, value, key, node)


@sets_item(TensorDict)
def _set_in_bundle(
    run: Run, owner: TensorDict, value: Value, target: cst.Subscript, site: cst.BaseExpression
) -> None:
    key = key_of(run, target)
    if isinstance(key, Const):
        run.state.write(owner.ref, str(key.value), value)
    else:  # Under any name; most likely each in turn.
        device = Unsure("something in it was replaced")
        run.state.write(owner.ref, DEVICE_FIELD, Placed(device, place_of(run, owner).since))


@sets_attribute(TensorDict)
def _set_on_bundle(
    run: Run, owner: TensorDict, value: Value, target: cst.Attribute, site: cst.BaseExpression
) -> None:
    run.state.write(owner.ref, target.attr.value, value)

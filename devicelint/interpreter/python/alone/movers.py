"""Attributes that methods of their object put elsewhere: others may be called after that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import libcst as cst

from devicelint.domain.devices import Device, Known, Unsure, may_be_accelerator
from devicelint.domain.history import Site, Step, Verb
from devicelint.domain.state import DEVICE_FIELD
from devicelint.domain.values import (
    Class,
    DictOf,
    Function,
    Instance,
    ListOf,
    Module,
    Placed,
    Tensor,
    Tuple,
    Value,
)
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.nodes import descendants
from devicelint.interpreter.engine.objects import module_device, order_of_bases
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.device_words import MOVES
from devicelint.interpreter.facts.mentions import called_method
from devicelint.interpreter.facts.stored_attributes import ANY, stored_by
from devicelint.interpreter.python.containers.contents import parts_of
from devicelint.interpreter.python.functions import call_function

_REGISTERED = ("parameter", "buffer")
_MOST = 16
"""So many tensors of a list or tuple are looked at."""
_DEEPEST = 3
"""How far a list in a list in a list is looked into."""

Places = tuple[Device, ...]
"""Where the tensors are that an attribute holds, in their order."""

Movers = dict[str, set[Site]]
"""The methods that leave an attribute on another device, by its name."""


def movers_of(run: Run, cls: Class, made: Instance | Module, preparing: set[Site]) -> Movers:
    """Which methods of a class move, or replace, what its objects made on a known device.

    Those that prepare an object are over when others begin, and what only its own methods call
    is a part of these.
    """
    kept = _kept(run, made)
    found: Movers = {}
    if not kept:
        return found
    for method in _entries(run, cls, preparing):
        if _names(run, cls, method, set()).isdisjoint({ANY, *kept}):
            continue
        before, outer, entered = run.state.fork(), run.frame, set(run.entered)
        with run.muted():
            call_function(run, method, Arguments(open=True, may_name=True), None, receiver=made)
        for name, device in kept.items():
            if not run.state.dead and _places_of(run, run.state.read(made.ref, name)) != device:
                found.setdefault(name, set()).add(method.node)
        run.state, run.frame, run.entered = before, outer, entered
    return found


def open_what_others_move(run: Run, made: Value, movers: Movers, method: Site) -> None:
    """Forget where an attribute is that a method other than this one puts elsewhere."""
    for name, methods in movers.items():
        assert isinstance(made, (Instance, Module))
        value = run.state.read(made.ref, name)
        nowhere = Unsure("another method may have moved it")
        if methods - {method} and isinstance(value, Module):
            place = Placed(nowhere, Step(Verb.REGISTERED, made, nowhere))
            run.state.write(value.ref, DEVICE_FIELD, place)
        elif methods - {method} and value is not None:
            run.state.write(made.ref, name, _opened(run, value, nowhere))


def _opened(run: Run, value: Value, nowhere: Unsure, depth: int = 0) -> Value:
    """The same, with its tensors nobody knows where: those of a list are opened in their place."""
    if isinstance(value, Tensor):
        return replace(value, device=nowhere)
    if isinstance(value, Tuple):
        items = tuple(_opened(run, one, nowhere, depth + 1) for one in value.items)
        return replace(value, items=items)
    if isinstance(value, (ListOf, DictOf)):
        for name, one in tuple(run.state.fields(value.ref).items()):
            if isinstance(one, Tensor) or (depth < _DEEPEST and _holds(one)):
                run.state.write(value.ref, name, _opened(run, one, nowhere, depth + 1))
    return value


def _kept(run: Run, made: Instance | Module) -> dict[str, Places]:
    """Where an object keeps what it has: its tensors, and what it has moved itself."""
    found: dict[str, Places] = {}
    for name, value in run.state.fields(made.ref).items():
        places = () if name.startswith("@") else _places_of(run, value)
        if isinstance(value, Module):
            is_kept = isinstance(made, Instance) and any(map(may_be_accelerator, places))
        else:
            is_kept = any(isinstance(one, Known) for one in places)
            is_kept = is_kept and getattr(value, "role", "") not in _REGISTERED
        if is_kept:
            found[name] = places
    return found


def _places_of(run: Run, value: Value | None, depth: int = 0) -> Places:
    if isinstance(value, Module):
        return (module_device(run, value).device,)
    if isinstance(value, Tensor):
        return (value.device,)
    parts = parts_of(run, value) if value is not None and _holds(value) else ()
    held = (one for one in parts if isinstance(one, Tensor) or (depth < _DEEPEST and _holds(one)))
    return tuple(place for one in islice(held, _MOST) for place in _places_of(run, one, depth + 1))


def _holds(value: Value) -> bool:
    return isinstance(value, (Tuple, ListOf, DictOf))


def _entries(run: Run, cls: Class, preparing: set[Site]) -> Iterator[Function]:
    """The methods of a class and of its bases that others call."""
    seen: set[str] = set()
    for one in order_of_bases(cls):
        called = {name for name in map(called_method, _code_of(one)) if name[:1] == "_"}
        for name, member in run.state.fields(one.ref).items():
            if not isinstance(member, Function) or name in seen:
                continue
            seen.add(name)
            if not (name == "__init__" or name in called or member.node in preparing):
                yield member


def _names(run: Run, cls: Class, method: Function, seen: set[Site]) -> set[str]:
    """What a method binds, by itself or by methods of the object that it calls."""
    seen.add(method.node)
    names = set(stored_by(method.node))
    assert isinstance(method.node, cst.CSTNode)
    if any(map(_moves_in_place, descendants(method.node))):
        names.add(ANY)
    for name in filter(None, map(called_method, descendants(method.node))):
        for one in order_of_bases(cls):
            member = run.state.read(one.ref, name)
            if isinstance(member, Function) and member.node not in seen:
                names |= _names(run, cls, member, seen)
    return names


def _moves_in_place(node: cst.CSTNode) -> bool:
    """`self.net.cpu()`, wherever that stands, and `net.to(device)` as a statement."""
    match node:
        case cst.Call(func=cst.Attribute(value=cst.Attribute(), attr=cst.Name(name))):
            return name in MOVES
        case cst.Expr(value=cst.Call(func=cst.Attribute(attr=cst.Name(name)))):
            return name in MOVES
        case _:
            return False


def _code_of(cls: Class) -> Iterator[cst.CSTNode]:
    assert isinstance(cls.node, cst.CSTNode)
    return descendants(cls.node)

"""Modules that lie in a plain container of another one, where nothing registers them."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devicelint.domain.events import HiddenModules, ModuleDefined
from devicelint.domain.history import Site, Verb
from devicelint.domain.values import DictOf, ListOf, Module, OneOf, Ref, Tuple, Value
from devicelint.interpreter.engine.nodes import descendants
from devicelint.interpreter.engine.objects import module_device
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.torch.modules.registration import (
    PlainlyKept,
    owns_tensors,
    submodules,
)


def announce_defined(run: Run, module: Module, site: cst.CSTNode) -> None:
    """Announce the Module after its `__init__`, with what it hides in plain containers."""
    registered: set[Ref] | None = None
    hidden = []
    for name, value in run.state.fields(module.ref).items():
        if name.startswith("@"):
            continue
        kind = _KINDS.get(type(value))
        kept = run.state.read(module.ref, f"@site:{name}")
        place = getattr(kept, "site", None)
        if kind is None or _keeps_one_apart(place, value, run):
            continue
        if registered is None:
            registered = _registered(run, module)
        unregistered = _hidden_in(run, value, registered, place)
        if unregistered and place is not None:
            only_modules = all(isinstance(one, (Module, OneOf)) for one in _elements(run, value))
            at = place if only_modules else None
            hidden.append(HiddenModules(name, kind, place, at, _built(run, unregistered, place)))
    run.announce(ModuleDefined(site, module, tuple(hidden)))


def _registered(run: Run, module: Module) -> set[Ref]:
    """What a Module has registered, and those in whose methods it is built."""
    owners = {module, *_modules_around(run)}
    return {one.ref for owner in owners for one in submodules(run, owner)}


def _modules_around(run: Run) -> Iterator[Module]:
    """The Modules in whose methods this one is built: what they registered moves with them."""
    for frame in run.frame.outwards():
        if isinstance(frame.receiver, Module):
            yield frame.receiver


_KINDS: dict[type, str] = {ListOf: "list", Tuple: "tuple", DictOf: "dict"}


def _hidden_in(run: Run, value: Value, registered: set[Ref], place: Site) -> list[Module]:
    modules = _modules_in(run, value)
    kept = run.notes(PlainlyKept)
    reached = registered | kept.asked
    hidden = [m for m in modules if m.ref not in reached and owns_tensors(run, m, made=True)]
    inside = (inner.ref for one in hidden for inner in submodules(run, one))
    kept.refs.update(dict.fromkeys(inside, place))
    return hidden


def _built(run: Run, hidden: list[Module], place: cst.CSTNode) -> tuple[Site, ...]:
    """Where these were built, if that is elsewhere than where the container was written."""
    steps = [module_device(run, module).since for module in hidden]
    sites = {step.site: None for step in steps if step.verb is Verb.BUILT}
    inside = set(descendants(place)) if sites else set()
    return tuple(site for site in sites if site not in inside)


def _modules_in(run: Run, value: Value, depth: int = 3) -> list[Module]:
    """The modules in a container, and in the containers that it holds."""
    if isinstance(value, Module):
        return [value]
    if isinstance(value, OneOf):
        return [one for one in value.options if isinstance(one, Module)]
    if depth == 0:
        return []
    inside = _elements(run, value)
    return [module for one in inside for module in _modules_in(run, one, depth - 1)]


def _elements(run: Run, value: Value) -> tuple[Value, ...]:
    if isinstance(value, Tuple):
        return value.items
    if not isinstance(value, (ListOf, DictOf)):
        return ()
    return tuple(
        v for n, v in run.state.fields(value.ref).items() if n[0] == "[" or n == "@element"
    )


def _keeps_one_apart(site: object, value: Value, run: Run) -> bool:
    """`self.teacher = [teacher]`: how a module is kept out of another one on purpose."""
    if not isinstance(site, (cst.List, cst.Tuple)) or len(site.elements) != 1:
        return False
    return len(set(_modules_in(run, value))) == 1

"""What functions bind outside themselves: others may be called after those that nobody calls here.

`device = "cpu"` at the top of a file is no more than the default, where a function of it says
`global device`, or gives `settings.device` or `STATE["device"]` another value.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import libcst as cst

from devicelint.domain.devices import CPU, Device, Unsure
from devicelint.domain.history import Site
from devicelint.domain.values import (
    Class,
    Const,
    DeviceHandle,
    DictOf,
    Instance,
    Tensor,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.nodes import (
    cached_of_nodes,
    descendants,
    names_bound_by,
    parameters_of,
)
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.machines.around import is_default_set_by_some


def default_of_others(run: Run) -> Device:
    """Where those that call a function have tensors made that are given no device."""
    if run.default_device == CPU and is_default_set_by_some(run):
        return Unsure("files of the project set the default device")
    return run.default_device


_HOLDERS = (Class, DictOf, Instance)
_PLACES = (DeviceHandle, Tensor)


def open_what_functions_set(run: Run, called: Collection[Site]) -> None:
    """Forget the devices that functions which the program has not called give another value."""
    ref = run.frame.ref
    held = {
        name for name, value in run.state.fields(ref).items() if isinstance(value, _HOLDERS)
    } | {name for name, value in run.state.fields(ref).items() if _says_where(value)}
    if not held:
        return
    for function in run.program.nodes.get(cst.FunctionDef, ()):
        assert isinstance(function, cst.FunctionDef)
        if function in called:
            continue
        for name, part in _outer_stores(function):
            if name in held:
                _open(run, name, part)


def _open(run: Run, name: str, part: str | None) -> None:
    """Forget a global name, or an attribute or item of what it stands for."""
    ref = run.frame.ref
    value = run.state.read(ref, name)
    unknown = Unknown("another function sets it")
    if part is None:
        if value is not None and _says_where(value):
            run.state.write(ref, name, unknown)
        return
    if not isinstance(value, _HOLDERS):
        return
    for one, kept in tuple(run.state.fields(value.ref).items()):
        if one == part and _says_where(kept):
            run.state.write(value.ref, one, unknown)


def _says_where(value: Value) -> bool:
    """Whether a value may be all that decides where something is made."""
    is_text = isinstance(value, Const) and isinstance(value.value, str)
    return is_text or isinstance(value, _PLACES)


@cached_of_nodes(300)
def _outer_stores(function: cst.FunctionDef) -> tuple[tuple[str, str | None], ...]:
    """The global names that a function binds, and the parts of what is global that it binds."""
    return tuple(_stores_outside(function))


_STORES = frozenset({cst.AssignTarget, cst.AugAssign})


def _stores_outside(function: cst.FunctionDef) -> Iterator[tuple[str, str | None]]:
    declared: set[str] = set()
    targets: list[cst.BaseExpression] = []
    for node in descendants(function.body):
        if type(node) is cst.Global:
            declared |= {item.name.value for item in node.names}
        elif type(node) in _STORES:
            assert isinstance(node, (cst.AssignTarget, cst.AugAssign))
            targets.append(node.target)
    yield from ((name, None) for name in declared)
    own = {one.name.value for one in parameters_of(function)}
    own |= {name for target in targets for name in names_bound_by(target)} - declared
    for target in targets:
        match target:
            case cst.Attribute(value=cst.Name(owner), attr=cst.Name(part)) if owner not in own:
                yield owner, part
            case cst.Subscript(
                value=cst.Name(owner),
                slice=[cst.SubscriptElement(slice=cst.Index(cst.SimpleString() as key))],
            ) if owner not in own:
                yield owner, f"[{key.evaluated_value!r}]"
            case _:
                pass

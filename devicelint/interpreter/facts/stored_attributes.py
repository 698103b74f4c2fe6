"""The attributes that methods give their object: what a call that is not walked may change."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devicelint.domain.devices import DeviceOf
from devicelint.domain.history import Site, Step, Verb
from devicelint.domain.values import NONE, Class, Instance, Module, Symbolic, Unknown, Value
from devicelint.interpreter.engine.nodes import cached_of_nodes, descendants
from devicelint.interpreter.engine.objects import names_buffer, order_of_bases
from devicelint.interpreter.engine.run import Run

ANY = "*"
"""Attributes whose names are computed."""
_ASSIGNED = frozenset({cst.AssignTarget, cst.AnnAssign, cst.AugAssign})


@cached_of_nodes(2_000)
def stored_by(method: Site) -> frozenset[str]:
    """The attributes of its first parameter that a method binds."""
    return frozenset(_stored(method) if isinstance(method, cst.FunctionDef) else ())


def _stored(method: cst.FunctionDef) -> Iterator[str]:
    parameters = (*method.params.posonly_params, *method.params.params)
    if not parameters:
        return
    first = parameters[0].name.value
    for node in descendants(method.body):
        if type(node) in _ASSIGNED:
            assert isinstance(node, (cst.AssignTarget, cst.AnnAssign, cst.AugAssign))
            yield from _attributes_of(first, node.target)
        elif type(node) is cst.Call and _sets_computed(first, node):
            yield ANY


def _sets_computed(owner: str, call: cst.Call) -> bool:
    """Whether this is `setattr(self, name, value)`, but for a name that is written there."""
    match call:
        case cst.Call(
            func=cst.Name("setattr"), args=[cst.Arg(cst.Name(name)), cst.Arg(attribute), cst.Arg()]
        ):
            return name == owner and not isinstance(attribute, cst.SimpleString)
        case _:
            return False


def _attributes_of(owner: str, target: cst.BaseExpression) -> Iterator[str]:
    match target:
        case cst.Attribute(value=cst.Name(name), attr=attribute) if name == owner:
            yield attribute.value
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            for element in elements:
                yield from _attributes_of(owner, element.value)
        case _:
            pass


def forget_stored(run: Run, method: Site, receiver: Value | None) -> None:
    """A method that is not walked may have given its object anything under the names it binds."""
    if isinstance(receiver, (Instance, Module)):
        for name in stored_by(method):
            if run.state.read(receiver.ref, name) is not None:
                run.state.write(receiver.ref, name, Unknown("set by a call that is not followed"))


def open_what_is_stored_later(run: Run, cls: Class, made: Instance | Module) -> None:
    """What is None at first, and bound by a method, may be there by the time of a call."""
    assert isinstance(cls.node, cst.CSTNode)
    for name in _stored_later(run, cls):
        is_buffer = isinstance(made, Module) and names_buffer(run, made, name)
        if run.state.read(made.ref, name) == NONE and not is_buffer:
            origin = f"self.{name}"
            since = Step(Verb.RECEIVED, cls.node, DeviceOf(origin))
            run.state.write(made.ref, name, Symbolic(origin, since=since))


def _stored_later(run: Run, cls: Class) -> Iterator[str]:
    """What the methods of a class bind, those that prepare an object left out."""
    for one in order_of_bases(cls):
        assert isinstance(one.node, cst.ClassDef)
        for method in one.node.body.body:
            if isinstance(method, cst.FunctionDef) and method.name.value != "__init__":
                yield from stored_by(method)

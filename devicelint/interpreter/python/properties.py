"""Properties: the accessors that `@x.setter` and its kin add, and assignments that call them."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devicelint.domain.values import Function, Instance, Module, Tensor, Value
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.objects import member_of
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.python.functions import call_function


def with_accessor(run: Run, named: cst.BaseExpression, accessor: Value) -> Value | None:
    """What `@x.setter` makes of a method: the property `x`, and how it is assigned."""
    if not isinstance(named, cst.Attribute) or named.attr.value not in ACCESSORS:
        return None
    before = run.evaluate(named.value)
    if not (isinstance(before, Function) and before.kind == "property"):
        return None
    if not isinstance(accessor, Function) or named.attr.value == "deleter":
        return before
    if named.attr.value == "getter":
        return replace(accessor, kind="property", setter=before.setter)
    return replace(before, setter=accessor)


ACCESSORS = frozenset({"setter", "getter", "deleter"})


def set_property(run: Run, owner: Value, name: str, value: Value, site: cst.BaseExpression) -> bool:
    """Call the setter to which an assignment leads; False: there is none.

    What a Module registers, its properties are not asked about.
    """
    if not isinstance(owner, (Instance, Module)) or _registers(owner, value):
        return False
    member = member_of(run, owner.ref, name)
    if not isinstance(member, Function) or member.setter is None:
        return False
    arguments = Arguments([Argument(site, value)])
    call_function(run, member.setter, arguments, None, receiver=owner)
    return True


def _registers(owner: Instance | Module, value: Value) -> bool:
    is_parameter = isinstance(value, Tensor) and value.role == "parameter"
    return isinstance(owner, Module) and (is_parameter or isinstance(value, Module))

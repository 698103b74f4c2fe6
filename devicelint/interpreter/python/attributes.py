"""Reading attributes and items."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devicelint.domain.alternatives import is_mixed
from devicelint.domain.devices import Device, DeviceOf, Opaque, Unsure
from devicelint.domain.history import Step, Verb
from devicelint.domain.join import join_known
from devicelint.domain.values import (
    ARRAY,
    HOST,
    Array,
    Bound,
    Class,
    Const,
    DeviceHandle,
    Flag,
    Function,
    HostValue,
    ImportedName,
    Instance,
    Module,
    Namespace,
    OneOf,
    Partial,
    Symbolic,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.cases import each, use
from devicelint.interpreter.engine.objects import (
    CLASS_FIELD,
    class_member,
    member_of,
)
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import attributes, evaluates, function
from devicelint.interpreter.facts.movable import treat_as_movable
from devicelint.interpreter.facts.tensor_api import is_asked_of_tensors, is_of_no_tensor
from devicelint.interpreter.facts.tensor_parameters import (
    as_proven,
    is_holder,
    note_holder,
    note_used,
)
from devicelint.interpreter.python.containers.fields import PARTS
from devicelint.interpreter.python.functions import call_function


@evaluates(cst.Attribute)
def attribute(run: Run, node: cst.Attribute) -> Value:
    value = read_attribute(run, run.evaluate(node.value), node.attr.value, node)
    return run.guesses.read(run, node, value)


def read_attribute(run: Run, value: Value, name: str, node: cst.Attribute) -> Value:
    """What `value.name` gives."""
    reader = attributes.get(type(value))
    if reader is None:
        use(run, value)
        return Unknown(f"an attribute of {type(value).__name__}")
    return reader(run, value, name, node)


@attributes(ImportedName)
def of_external(run: Run, value: ImportedName, name: str, node: cst.Attribute) -> Value:
    return ImportedName(f"{value.name}.{name}", chosen=bool(run.assumptions))


@attributes(Symbolic)
def of_outside(run: Run, value: Symbolic, name: str, node: cst.Attribute) -> Value:
    written = run.state.read(value.origin, name)
    if written is not None:
        return written
    if is_asked_of_tensors(name, is_called=False):
        note_used(run, value.origin)
    if name == "device":
        treat_as_movable(run, value.since)
        return DeviceHandle(_device_of(run, value), node, is_object=False)
    if name in ("is_cuda", "is_cpu"):
        treat_as_movable(run, value.since)
        return Flag(f"{value.origin}.{name}")
    if name in _SHAPES:
        return replace(DTYPE, of=value.since) if name == "dtype" else HOST
    if name in ("data", "T", "mT"):
        return value
    if is_of_no_tensor(name):
        note_holder(run, value.origin)
    return as_proven(run, Symbolic(f"{value.origin}.{name}", since=value.since))


def _device_of(run: Run, value: Symbolic) -> Device:
    """`x.device` is where `x` is; `args.device` is a setting, if nothing makes `args` a tensor."""
    if is_holder(run, value):
        return Opaque(f"{value.origin}.device")
    if value.since is None:
        return Unsure(f"{value.origin} is given by code that is not followed")
    return DeviceOf(value.origin)


DTYPE = ImportedName("torch.dtype")
"""`x.dtype`, which `.to()` takes for what it is."""
_SHAPES = frozenset({"shape", "dtype", "ndim"})


@attributes(Instance)
def of_instance(run: Run, value: Instance, name: str, node: cst.Attribute) -> Value:
    held = run.state.read(value.ref, name)
    if held is not None:
        return held
    member = member_of(run, value.ref, name)
    if member is not None:
        return bind(run, member, value, node)
    of_python = _of_any_object(run, value, name)
    if of_python is not None:
        return of_python
    origin = f"{run.code_of(node.value)}.{name}"
    since = Step(Verb.RECEIVED, node, DeviceOf(origin))
    return as_proven(run, Symbolic(origin, since=since))


_OF_TUPLES = {"_replace": "dataclasses.replace", "_asdict": "dataclasses.asdict"}
"""The methods of a tuple with names, and the functions that do the same to other records."""


def _of_any_object(run: Run, value: Instance, name: str) -> Value | None:
    """What Python gives every object, and what `__getattr__` of its class makes of other names."""
    if name == "__dict__":
        return Namespace(value, value.ref)
    if name == "__class__":
        return run.state.read(value.ref, CLASS_FIELD)
    if name in _OF_TUPLES and run.state.read(value.ref, PARTS) is not None:
        return Partial(ImportedName(_OF_TUPLES[name]), (value,))
    asked = member_of(run, value.ref, "__getattr__")
    if not isinstance(asked, Function):
        return None
    arguments = Arguments([Argument(asked.node, Const(name))])
    return call_function(run, asked, arguments, None, receiver=value)


@attributes(Class)
def of_class(run: Run, value: Class, name: str, node: cst.Attribute) -> Value:
    member = class_member(run, value, name)
    if isinstance(member, Function) and member.kind == "class":
        return Bound(member, value)
    if member is None and name in ("__name__", "__qualname__"):
        return Const(value.name)
    return member or _of_imported_base(value, name, node) or _unknown_member(value, name)


def _of_imported_base(cls: Class, name: str, node: cst.Attribute) -> Value | None:
    """`Scale.apply` of a `torch.autograd.Function`: the base's own, which is given the class."""
    for base in cls.bases:
        if isinstance(base, Class):
            found = _of_imported_base(base, name, node)
            if found is not None:
                return found
        elif isinstance(base, ImportedName) and f"{base.name}.{name}" in function:
            return Partial(ImportedName(f"{base.name}.{name}"), (cls,), (), (node.value,))
    return None


def _unknown_member(cls: Class, name: str) -> Unknown:
    return Unknown(f"{cls.name}.{name} is not known")


def bind(run: Run, member: Value, receiver: Value, node: cst.Attribute) -> Value:
    """A class member looked up on an object: a method is bound, a property is called."""
    if not isinstance(member, Function):
        return member
    if member.kind == "static":
        return member
    if member.kind == "class" and isinstance(receiver, (Module, Instance)):
        return Bound(member, run.state.read(receiver.ref, CLASS_FIELD) or receiver)
    if member.kind == "property":
        return call_function(run, member, Arguments(), None, receiver=receiver)
    return Bound(member, receiver)


@attributes(Array)
def of_array(run: Run, value: Array, name: str, node: cst.Attribute) -> Value:
    return HOST if name in ("shape", "size", "ndim", "dtype") else ARRAY


@attributes(HostValue)
def of_host_value(run: Run, value: HostValue, name: str, node: cst.Attribute) -> Value:
    """`path.parent` lies where the path does."""
    known = value.source is not None
    return value if known else Unknown("an attribute of HostValue")


@attributes(OneOf)
def of_one_of(run: Run, value: OneOf, name: str, node: cst.Attribute) -> Value:
    if is_mixed(value):
        return each(run, value, lambda one: read_attribute(run, one, name, node))
    joined: Value | None = None
    for option in value.options:
        found = read_attribute(run, option, name, node)
        joined = found if joined is None else join_known(joined, found)
    assert joined is not None
    return joined

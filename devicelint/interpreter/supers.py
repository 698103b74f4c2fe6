"""`super().method(…)`: the method of the first base in the file that has it."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.values import NONE, Class, Function, Module, Super, Unknown, Value
from devicelint.interpreter.attributes import CLASS_FIELD, class_member
from devicelint.interpreter.calls import arguments_of
from devicelint.interpreter.classes import torch_base
from devicelint.interpreter.functions import call_function
from devicelint.interpreter.module_building import fill_container
from devicelint.interpreter.run import METHODS, Run, methods
from devicelint.knowledge import ModuleKind, module_class


@methods(Super)
def method_of_super(run: Run, receiver: Super, name: str, node: cst.Call) -> Value:
    inner = receiver.receiver
    cls = _class_around(run, receiver)
    for base in cls.bases if cls is not None else ():
        member = class_member(run, base, name) if isinstance(base, Class) else None
        if isinstance(member, Function):
            arguments = arguments_of(run, node)
            return call_function(run, member, arguments, node, receiver=inner)
    if name == "__init__":
        _init_of_torch(run, inner, cls, node)
        return NONE
    if isinstance(inner, Module) and name in ("to", "cuda", "cpu", "register_buffer", "train"):
        return METHODS[Module](run, inner, name, node)
    arguments_of(run, node)
    return Unknown(f"super().{name}()")


def _class_around(run: Run, receiver: Super) -> Class | None:
    """The class in whose body the method stands, which need not be the object's own."""
    inner = receiver.receiver
    ref = getattr(inner, "ref", None)
    cls = run.state.read(ref, CLASS_FIELD) if ref is not None else None
    return _find(cls, receiver.owner) if isinstance(cls, Class) else None


def _find(cls: Class, owner: object) -> Class | None:
    if owner is None or cls.ref == owner:
        return cls
    for base in cls.bases:
        if isinstance(base, Class):
            found = _find(base, owner)
            if found is not None:
                return found
    return cls


def _init_of_torch(run: Run, inner: Value, cls: Class | None, node: cst.Call) -> None:
    """`super().__init__(a, b)` of a class derived from Sequential fills it."""
    arguments = arguments_of(run, node)
    knowledge = module_class(torch_base(cls)) if cls is not None else None
    if knowledge is None or not isinstance(inner, Module):
        return
    if knowledge.kind is ModuleKind.CONTAINER:
        fill_container(run, inner, knowledge.name, arguments)

"""`super().method(…)`: the method of the first base in the file that has it."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.devices import Unsure
from devicelint.domain.history import Step, Verb
from devicelint.domain.state import DEVICE_FIELD
from devicelint.domain.values import (
    NONE,
    Class,
    Const,
    DeviceHandle,
    External,
    Function,
    HostValue,
    Module,
    Moved,
    Super,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import methods
from devicelint.interpreter.python.attributes import CLASS_FIELD, TORCH_FIELD, class_member
from devicelint.interpreter.python.calls import arguments_of
from devicelint.interpreter.python.classes import torch_base
from devicelint.interpreter.python.functions import call_function
from devicelint.interpreter.torch.device_arguments import device_named
from devicelint.interpreter.torch.modules.construction import fill_container
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
        return methods[Module](run, inner, name, node)
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
    """`super().__init__(a, b)` of a class derived from Sequential fills it.

    That of a class derived from Linear makes the parameters, where it is told to.
    """
    arguments = arguments_of(run, node)
    base = torch_base(cls) if cls is not None else ""
    knowledge = module_class(base)
    if knowledge is None or not isinstance(inner, Module):
        return
    if knowledge.kind is ModuleKind.CONTAINER:
        fill_container(run, inner, knowledge.name, arguments)
    elif knowledge.owns_tensors and not arguments.open:
        _make_parameters(run, inner, base, arguments, node)


def _may_name_device(value: Value) -> bool:
    is_text = isinstance(value, Const) and isinstance(value.value, str)
    return is_text or isinstance(value, DeviceHandle)


def _make_parameters(
    run: Run, inner: Module, base: str, arguments: Arguments, node: cst.Call
) -> None:
    told = arguments.keywords.get("device")
    told = told or next((one for one in arguments.positional if _may_name_device(one.value)), None)
    if told is not None and told.value != NONE:
        device = device_named(run, told) or Unsure("the device is not known")
        run.state.write(inner.ref, DEVICE_FIELD, Moved(device, Step(Verb.BUILT, node, device)))
    elif not all(isinstance(one.value, (Const, HostValue)) for one in arguments):
        return
    run.state.write(inner.ref, TORCH_FIELD, External(base))

"""Reading attributes and items."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devicelint.domain.devices import Device, DeviceOf, Known, Opaque, Unsure
from devicelint.domain.history import Step, Verb
from devicelint.domain.join import join_known
from devicelint.domain.state import DEVICE_FIELD
from devicelint.domain.values import (
    ARRAY,
    HOST,
    NONE,
    Array,
    Batch,
    Bound,
    Bundle,
    Class,
    Const,
    Dataset,
    DeviceHandle,
    DeviceIndex,
    External,
    Flag,
    Function,
    Instance,
    Loaded,
    Loader,
    Module,
    Moved,
    OneOf,
    Outside,
    Tensor,
    Tool,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import attributes, evaluates
from devicelint.interpreter.facts.tensor_parameters import as_proven
from devicelint.interpreter.libraries.bundles import held_by
from devicelint.interpreter.python.containers import as_tensor
from devicelint.knowledge import Form, member_mark, module_class, tensor_attribute


@evaluates(cst.Attribute)
def attribute(run: Run, node: cst.Attribute) -> Value:
    value = read_attribute(run, run.evaluate(node.value), node.attr.value, node)
    return run.guesses.read(run, node, value)


def read_attribute(run: Run, value: Value, name: str, node: cst.Attribute) -> Value:
    """What `value.name` gives."""
    reader = attributes.get(type(value))
    if reader is None:
        return Unknown(f"an attribute of {type(value).__name__}")
    return reader(run, value, name, node)


@attributes(External)
def of_external(run: Run, value: External, name: str, node: cst.Attribute) -> Value:
    return External(f"{value.name}.{name}", chosen=bool(run.assumptions))


@attributes(Tensor)
def of_tensor(run: Run, value: Tensor, name: str, node: cst.Attribute) -> Value:
    if name == "device":
        return DeviceHandle(value.device, node)
    if name in ("is_cuda", "is_cpu"):
        return _is_on(value, name)
    if name == "dtype":
        return DTYPE
    if name == "data":
        return replace(value, grad=False, role="")
    result = tensor_attribute(name)
    if result is None:
        return Unknown(f"tensor.{name} is not known")
    if result.form in (Form.HOST, Form.NONE):
        return HOST
    scalar = value.scalar if name in ("T", "mT", "H", "mH", "real", "imag", "grad") else None
    return Tensor(value.device, value.since, scalar, False if name == "grad" else value.grad)


def _is_on(value: Tensor, name: str) -> Value:
    match value.device:
        case Known(kind):
            return Const((kind == "cuda") if name == "is_cuda" else (kind == "cpu"))
        case DeviceOf(place):
            return Flag(f"{place}.{name}")
        case _:
            return HOST


@attributes(Batch)
def of_batch(run: Run, value: Batch, name: str, node: cst.Attribute) -> Value:
    if tensor_attribute(name) is not None or name == "device":
        return of_tensor(run, as_tensor(value), name, node)
    return replace(value, whole=False)


@attributes(Moved)
def of_moved(run: Run, value: Moved, name: str, node: cst.Attribute) -> Value:
    if name == "device":
        return DeviceHandle(value.device, node)
    if tensor_attribute(name) is not None:
        return of_tensor(run, Tensor(value.device, value.since), name, node)
    return Unknown("an attribute of something moved")


@attributes(Outside)
def of_outside(run: Run, value: Outside, name: str, node: cst.Attribute) -> Value:
    written = run.state.read(value.origin, name)
    if written is not None:
        return written
    if name == "device":
        return DeviceHandle(_device_of(value.origin), node, is_object=False)
    if name in ("is_cuda", "is_cpu"):
        return Flag(f"{value.origin}.{name}")
    if name in _SHAPES:
        return DTYPE if name == "dtype" else HOST
    if name in ("data", "T", "mT"):
        return value
    return as_proven(run, Outside(f"{value.origin}.{name}", since=value.since))


def _device_of(origin: str) -> Device:
    """`x.device` is where `x` is; `args.device` is a setting, by the name that settings have."""
    is_setting = origin.rpartition(".")[2] in _SETTINGS
    return Opaque(f"{origin}.device") if is_setting else DeviceOf(origin)


_SETTINGS = frozenset(
    "args opt opts options option config cfg conf hparams flags FLAGS settings accelerator "
    "fabric".split()
)
DTYPE = External("torch.dtype")
"""`x.dtype`, which `.to()` takes for what it is."""
_SHAPES = frozenset({"shape", "dtype", "ndim"})


@attributes(DeviceHandle)
def of_device(run: Run, value: DeviceHandle, name: str, node: cst.Attribute) -> Value:
    device = value.device
    if name == "type":
        return Const(device.type) if isinstance(device, Known) else Outside(f"{device}.type")
    if name == "index" and isinstance(device, Known) and device.type == "cpu":
        return NONE
    return DeviceIndex(device) if name == "index" else HOST


@attributes(Module)
def of_module(run: Run, value: Module, name: str, node: cst.Attribute) -> Value:
    held = registered_under(run, value, name)
    if held is not None:
        return held
    member = member_of(run, value.ref, name)
    if member is not None:
        return bind(run, member, value, node)
    if name == "device":
        return DeviceHandle(module_device(run, value).device, node)
    if name in _OWN_TENSORS:
        base = run.state.read(value.ref, TORCH_FIELD)
        knowledge = module_class(base.name if isinstance(base, External) else value.name)
        if knowledge is not None and knowledge.owns_tensors:
            return parameter_of(run, value)
    return HOST if name == "training" else _part(run, value, name, node)


def _part(run: Run, module: Module, name: str, node: cst.Attribute) -> Value:
    """What a Module of a library is made of, where that is known; `_modules` has it by name."""
    from devicelint.interpreter.torch.modules.submodules import part_named

    if name == "_modules":
        return module
    return part_named(run, module, name, node) or Unknown(f"{module.name}.{name} is not known")


def registered_under(run: Run, module: Module, name: str) -> Value | None:
    """What a Module keeps under a name; what a ModuleDict holds has that name, too."""
    held = run.state.read(module.ref, name)
    return run.state.read(module.ref, f"[{name!r}]") if held is None else held


_OWN_TENSORS = frozenset(
    "weight bias running_mean running_var in_proj_weight in_proj_bias weight_ih_l0 weight_hh_l0 "
    "bias_ih_l0 bias_hh_l0 weight_ih weight_hh bias_ih bias_hh".split()
)


def parameter_of(run: Run, module: Module) -> Tensor:
    """One of a module's parameters: it is where the module is."""
    place = module_device(run, module)
    return Tensor(place.device, place.since, False, True, "parameter")


def module_device(run: Run, module: Module) -> Moved:
    """Where a module is, and since when."""
    place = run.state.read(module.ref, DEVICE_FIELD)
    if isinstance(place, Moved):
        return place
    return Moved(Unsure(f"the device of {module.name} is not known"), module.since)


@attributes(Instance)
def of_instance(run: Run, value: Instance, name: str, node: cst.Attribute) -> Value:
    held = run.state.read(value.ref, name)
    if held is not None:
        return held
    member = member_of(run, value.ref, name)
    if member is not None:
        return bind(run, member, value, node)
    origin = f"{run.code_of(node.value)}.{name}"
    since = Step(Verb.RECEIVED, node, DeviceOf(origin))
    return as_proven(run, Outside(origin, since=since))


@attributes(Class)
def of_class(run: Run, value: Class, name: str, node: cst.Attribute) -> Value:
    member = class_member(run, value, name)
    if isinstance(member, Function) and member.kind == "class":
        return Bound(member, value)
    return member or Unknown(f"{value.name}.{name} is not known")


CLASS_FIELD = "@class"
TORCH_FIELD = "@torch"
"""The class of torch whose parameters a Module of a derived class has."""


def member_of(run: Run, ref: int | str, name: str) -> Value | None:
    """What the class of an object says of a name."""
    cls = run.state.read(ref, CLASS_FIELD)
    return class_member(run, cls, name) if isinstance(cls, Class) else None


def class_member(run: Run, cls: Class, name: str) -> Value | None:
    """A member of a class or of its bases in the file."""
    found = run.state.read(cls.ref, name)
    if found is not None:
        return found
    for base in cls.bases:
        if isinstance(base, Class):
            found = class_member(run, base, name)
            if found is not None:
                return found
    return None


def bind(run: Run, member: Value, receiver: Value, node: cst.Attribute) -> Value:
    """A class member looked up on an object: a method is bound, a property is called."""
    if not isinstance(member, Function):
        return member
    if member.kind == "static":
        return member
    if member.kind == "class" and isinstance(receiver, (Module, Instance)):
        return Bound(member, run.state.read(receiver.ref, CLASS_FIELD) or receiver)
    if member.kind == "property":
        from devicelint.interpreter.python.functions import call_function

        return call_function(run, member, Arguments(), None, receiver=receiver)
    return Bound(member, receiver)


@attributes(Bundle)
def of_bundle(run: Run, value: Bundle, name: str, node: cst.Attribute) -> Value:
    return held_by(run, value, name, node)


@attributes(Tool)
def of_tool(run: Run, value: Tool, name: str, node: cst.Attribute) -> Value:
    if value.device is not None and member_mark(value.name, name) == "Device":
        return DeviceHandle(value.device, node)
    return Unknown(f"{value.name}.{name} is not known")


@attributes(Loader)
def of_loader(run: Run, value: Loader, name: str, node: cst.Attribute) -> Value:
    return Dataset(value.item, value.site) if name == "dataset" else HOST


@attributes(Loaded)
def of_loaded(run: Run, value: Loaded, name: str, node: cst.Attribute) -> Value:
    return value


@attributes(Array)
def of_array(run: Run, value: Array, name: str, node: cst.Attribute) -> Value:
    return HOST if name in ("shape", "size", "ndim", "dtype") else ARRAY


@attributes(OneOf)
def of_one_of(run: Run, value: OneOf, name: str, node: cst.Attribute) -> Value:
    joined: Value | None = None
    for option in value.options:
        found = read_attribute(run, option, name, node)
        joined = found if joined is None else join_known(joined, found)
    assert joined is not None
    return joined

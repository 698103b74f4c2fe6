"""Attributes, items and elements of Modules, and what is put into them."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devicelint.domain.devices import DeviceOf
from devicelint.domain.history import Site, Step, Verb
from devicelint.domain.values import (
    HOST,
    Class,
    DeviceHandle,
    ImportedName,
    Module,
    Owned,
    Parameters,
    Symbolic,
    Tensor,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.objects import (
    CLASS_FIELD,
    TORCH_FIELD,
    member_of,
    module_device,
    registered_under,
    under_some_name,
)
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import (
    attributes,
    elements,
    items,
    sets_attribute,
    sets_by_name,
)
from devicelint.interpreter.python.assignment import set_by_property
from devicelint.interpreter.python.attributes import bind
from devicelint.interpreter.python.classes import has_unseen_base
from devicelint.interpreter.python.containers.contents import element_in, item
from devicelint.interpreter.python.containers.subscripts import key_of
from devicelint.interpreter.python.namespaces import NAMESPACES, namespace_of
from devicelint.interpreter.torch.modules.copies import parameter_in
from devicelint.interpreter.torch.modules.registration import (
    parameter_of,
    register,
    register_somewhere,
)
from devicelint.interpreter.torch.modules.submodules import part_named
from devicelint.knowledge import module_class


@attributes(Module)
def of_module(run: Run, value: Module, name: str, node: cst.Attribute) -> Value:
    held = registered_under(run, value, name)
    if held is not None:
        return _as_owned(held, value, name)
    member = member_of(run, value.ref, name)
    if member is not None:
        return bind(run, member, value, node)
    if name == "__class__":
        return run.state.read(value.ref, CLASS_FIELD) or Unknown("the class of a module")
    if name in NAMESPACES:
        return namespace_of(value, name)
    if name == "device":
        return _device_of(run, value, node)
    if name in _OWN_TENSORS:
        base = run.state.read(value.ref, TORCH_FIELD)
        knowledge = module_class(base.name if isinstance(base, ImportedName) else value.name)
        if knowledge is not None and knowledge.owns_tensors:
            role = "buffer" if name.startswith("running_") else "parameter"
            return _as_owned(replace(parameter_of(run, value), role=role), value, name)
    somewhere = under_some_name(run, value.ref)
    if somewhere is not None:
        return somewhere
    return HOST if name == "training" else _part(run, value, name, node)


def _device_of(run: Run, module: Module, node: cst.Attribute) -> DeviceHandle:
    """The `device` of a library's Module is an object; torch's own have none.

    Whoever gave it to a class of the file, by a name that was computed, may have taken a string.
    """
    cls = run.state.read(module.ref, CLASS_FIELD)
    is_object = not isinstance(cls, Class) or has_unseen_base(cls)
    return DeviceHandle(module_device(run, module).device, node, is_object=is_object)


def _as_owned(held: Value, module: Module, name: str) -> Value:
    """A parameter or buffer, with the Module that owns it."""
    if isinstance(held, Tensor) and held.role in ("parameter", "buffer"):
        return replace(held, home=Owned(module, name))
    return held


def _part(run: Run, module: Module, name: str, node: cst.Attribute) -> Value:
    """What a Module of a library is made of, where that is known; `_modules` has it by name."""
    if name == "_modules":
        return module
    return part_named(run, module, name, node) or _of_unseen_base(run, module, name, node)


def _of_unseen_base(run: Run, module: Module, name: str, node: cst.Attribute) -> Unknown:
    """What a base gives that is not seen: should it be a tensor, it is where the Module is."""
    reason = f"{module.name}.{name} is not known"
    cls, place = run.state.read(module.ref, CLASS_FIELD), module_device(run, module).device
    if not (isinstance(place, DeviceOf) and isinstance(cls, Class) and has_unseen_base(cls)):
        return Unknown(reason)
    device = DeviceOf(f"{place.place}.{name}", frozenset({place.place}))
    return Unknown(reason, Step(Verb.GIVEN, node, device))


_OWN_TENSORS = frozenset(
    "weight bias running_mean running_var in_proj_weight in_proj_bias weight_ih_l0 weight_hh_l0 "
    "bias_ih_l0 bias_hh_l0 weight_ih weight_hh bias_ih bias_hh".split()
)


@elements(Module)
def _layer(run: Run, value: Module, site: Site) -> Value:
    return element_in(run, run.state.fields(value.ref))


@items(Module)
def _item_of_module(run: Run, value: Module, node: cst.Subscript) -> Value:
    key = key_of(run, node)
    return value if key is None else item(run, value.ref, key)


@items(Parameters)
def _some_parameters(run: Run, value: Parameters, node: cst.Subscript) -> Value:
    """`list(net.parameters())[0]`, or some of them."""
    key = key_of(run, node)
    return value if key is None else _parameter(run, value, node)


@elements(Parameters)
def _parameter(run: Run, value: Parameters, site: Site) -> Value:
    if isinstance(value.module, (Module, Symbolic)):
        return parameter_in(run, value.module)
    return Unknown("an element of something unknown")


@sets_attribute(Module)
def _set_on_module(
    run: Run, owner: Module, value: Value, target: cst.Attribute, site: cst.BaseExpression
) -> None:
    name = target.attr.value
    if not set_by_property(run, owner, name, value, site):
        register(run, owner, name, value, target, site)


@sets_by_name(Module)
def _set_by_name(run: Run, owner: Module, name: str | None, value: Value, node: cst.Call) -> None:
    if name is None:
        register_somewhere(run, owner, value)
    else:
        register(run, owner, name, value, node, node.args[-1].value)

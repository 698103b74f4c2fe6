"""Tensors, and what may be one: their attributes and elements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from devicelint.domain.devices import DeviceOf, Known
from devicelint.domain.history import Site
from devicelint.domain.values import (
    HOST,
    NONE,
    Array,
    Batch,
    Class,
    Const,
    Dataset,
    DeviceHandle,
    DeviceIndex,
    Flag,
    Instance,
    Loader,
    Module,
    NotMovable,
    Parameters,
    Placed,
    Symbolic,
    Tensor,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.objects import (
    CLASS_FIELD,
    is_seen_to_have,
    member_of,
    parts_of_moved,
)
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import (
    attributes,
    elements,
    function,
    sets_attribute,
)
from devicelint.interpreter.facts.device_words import MOVES
from devicelint.interpreter.facts.movable import treat_as_movable
from devicelint.interpreter.facts.tensor_parameters import rank_of_part
from devicelint.interpreter.python.attributes import DTYPE
from devicelint.interpreter.python.classes import has_unseen_base
from devicelint.interpreter.python.containers.contents import known_elements
from devicelint.interpreter.torch.modules.data import set_data
from devicelint.interpreter.torch.processes.ranks import number_of_dimensions
from devicelint.knowledge import Form, ModuleKind, module_class, tensor_attribute, tensor_method


@attributes(Tensor)
def of_tensor(run: Run, value: Tensor, name: str, node: cst.Attribute) -> Value:
    if name in _PLACE:
        treat_as_movable(run, value.since)
    if name == "device":
        return DeviceHandle(value.device, node)
    if name in ("is_cuda", "is_cpu"):
        return _is_on(value, name)
    if name == "dtype":
        return replace(DTYPE, of=value.since)
    if name == "requires_grad" and value.grad is not None:
        # What a parameter has a part in has a gradient, unless somebody has frozen that.
        return HOST if value.grad and value.role != "leaf" else Const(value.grad)
    if name == "data":
        return replace(value, grad=False, role="", home=None)
    result = tensor_attribute(name)
    if result is None:
        return Unknown(f"tensor.{name} is not known")
    if result.form in (Form.HOST, Form.NONE):
        return number_of_dimensions(value) if name == "ndim" else HOST
    alike = name in _OF_ONE_SHAPE
    scalar = value.scalar if alike else None
    grad = False if name == "grad" else value.grad
    least = value.least if alike else 0
    return Tensor(value.device, value.since, scalar, grad, least=least)


_PLACE = frozenset({"device", "is_cuda", "is_cpu"})
"""Attributes that say where a tensor lies."""
_OF_ONE_SHAPE = frozenset({"T", "mT", "H", "mH", "real", "imag", "grad"})
"""Attributes that have as many dimensions as the tensor."""


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
    if tensor_attribute(name) is not None or name in _PLACE:
        return of_tensor(run, as_tensor(value), name, node)
    return replace(value, whole=False)


@attributes(Placed)
def of_moved(run: Run, value: Placed, name: str, node: cst.Attribute) -> Value:
    if name == "device":
        return DeviceHandle(value.device, node)
    written = run.state.read(parts_of_moved(value), name)
    if written is not None:
        return written
    if tensor_attribute(name) is not None or name in _PLACE:
        return of_tensor(run, Tensor(value.device, value.since), name, node)
    return Unknown("an attribute of something moved")


@sets_attribute(Placed)
def _set_on_moved(
    run: Run, owner: Placed, value: Value, target: cst.Attribute, site: cst.BaseExpression
) -> None:
    run.state.write(parts_of_moved(owner), target.attr.value, value)


@attributes(DeviceHandle)
def of_device(run: Run, value: DeviceHandle, name: str, node: cst.Attribute) -> Value:
    device = value.device
    if name == "type":
        return Const(device.type) if isinstance(device, Known) else Symbolic(f"{device}.type")
    if name == "index" and isinstance(device, Known) and device.type == "cpu":
        return NONE
    return DeviceIndex(device) if name == "index" else HOST


def as_tensor(batch: Batch, scalar: bool | None = False) -> Tensor:
    """A batch that turned out to be one tensor."""
    return Tensor(batch.device, batch.since, scalar)


@elements(Tensor)
def _row(run: Run, value: Tensor, site: Site) -> Value:
    rank, least = rank_of_part(run, value, site), max(0, value.least - 1)
    return replace(value, scalar=rank, least=least, home=None)


@elements(Batch)
def _part_of_batch(run: Run, value: Batch, site: Site) -> Value:
    return replace(value, whole=False) if value.whole else as_tensor(value, scalar=None)


@elements(Placed)
def _part_of_moved(run: Run, value: Placed, site: Site) -> Value:
    return value


@sets_attribute(Tensor)
def _set_on_tensor(
    run: Run, owner: Tensor, value: Value, target: cst.Attribute, site: cst.BaseExpression
) -> None:
    if target.attr.value == "data":
        set_data(run, owner, value, target, site)
    elif target.attr.value == "requires_grad" and value == Const(True):
        for one in _each(run, target.value, owner):
            run.steps.leaf(replace(one, role="leaf"))


def _each(run: Run, target: cst.BaseExpression, owner: Tensor) -> Iterator[Tensor]:
    """The tensor that a name stands for; in a loop over a list, every one of these."""
    bound = run.frame.bindings.get(target.value) if isinstance(target, cst.Name) else None
    elements = known_elements(run, run.evaluate(bound.iter)) if isinstance(bound, cst.For) else None
    yield from (one for one in elements or (owner,) if isinstance(one, Tensor))


@function("builtins.hasattr")
def hasattr_(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """A tensor has what tensors have; what has no device has no method that moves it."""
    given = [argument.value for argument in arguments.positional]
    if len(given) < 2 or not isinstance(given[1], Const):
        return HOST
    owner, attribute = given[0], str(given[1].value)
    if isinstance(owner, Tensor) and _is_of_tensors(attribute):
        return Const(True)
    if isinstance(owner, (Array, NotMovable, Loader, Dataset, Parameters)) and attribute in MOVES:
        return Const(False)
    if isinstance(owner, Const):
        return Const(hasattr(owner.value, attribute))
    if isinstance(owner, Module) and attribute == "module":
        return _holds_another(run, owner)
    return Const(True) if _is_known_of(run, owner, attribute) else HOST


def _is_known_of(run: Run, owner: Value, attribute: str) -> bool:
    """Whether something has an attribute for sure; that nobody sees it says nothing."""
    if isinstance(owner, (NotMovable, Module)) and attribute in _WITH_A_STATE:
        return True
    return isinstance(owner, (Instance, Module)) and is_seen_to_have(run, owner, attribute)


_WITH_A_STATE = frozenset({"state_dict", "load_state_dict"})


def _holds_another(run: Run, module: Module) -> Value:
    """Whether a Module is a DataParallel or its like; one of a class that is seen is none."""
    cls = run.state.read(module.ref, CLASS_FIELD)
    if isinstance(cls, Class):
        has = "module" in run.state.fields(module.ref) or member_of(run, module.ref, "module")
        return HOST if has or has_unseen_base(cls) else Const(False)
    known = module_class(module.name)
    return HOST if known is None else Const(known.kind is ModuleKind.WRAPPER)


def _is_of_tensors(name: str) -> bool:
    known = tensor_method(name) is not None or tensor_attribute(name) is not None
    return known or name in MOVES or name in ("numpy", "device")

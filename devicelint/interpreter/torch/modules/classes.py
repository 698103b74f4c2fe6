"""Objects of classes of the file: Modules, and what else holds Modules and parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import libcst as cst

from devicelint.domain.devices import CPU, DeviceOf, Unsure, may_be_accelerator
from devicelint.domain.history import Step, Verb
from devicelint.domain.state import DEVICE_FIELD
from devicelint.domain.values import (
    NONE,
    Class,
    Const,
    DeviceHandle,
    Function,
    HostValue,
    ImportedName,
    Instance,
    Module,
    OneOf,
    Placed,
    Tensor,
    Value,
)
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.objects import TORCH_FIELD, class_member, module_device
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import Made, begins, instantiates, stands_alone
from devicelint.interpreter.python.classes import MODULE, OBJECT, has_unseen_base, torch_base
from devicelint.interpreter.torch.devices.arguments import device_named
from devicelint.interpreter.torch.marked_calls import call_marked
from devicelint.interpreter.torch.modules.construction import fill_container
from devicelint.interpreter.torch.modules.copies import own_copies
from devicelint.interpreter.torch.modules.given_devices import announce_made_apart, is_made_apart
from devicelint.interpreter.torch.modules.hidden import announce_defined
from devicelint.interpreter.torch.modules.registration import built, move_module
from devicelint.knowledge import ModuleKind, module_class


@instantiates(MODULE)
@contextmanager
def make_module(run: Run, cls: Class, arguments: Arguments, place: cst.CSTNode) -> Iterator[Module]:
    """A Module, announced with what its `__init__` has registered."""
    made = built(run, place, cls.name)
    knowledge = module_class(torch_base(cls))
    if knowledge is not None and knowledge.kind is ModuleKind.CONTAINER and not _begins(run, cls):
        fill_container(run, made, knowledge.name, arguments)
    yield made
    announce_defined(run, made, place)


def _begins(run: Run, cls: Class) -> bool:
    """Whether a class has an `__init__` of its own, whose arguments are no parts."""
    return isinstance(class_member(run, cls, "__init__"), Function)


def _is_assumed(value: Value) -> bool:
    return isinstance(value, Module) and value.since.verb is Verb.ASSUMED


def let_go_of_parts(run: Run, made: Instance, kept: Callable[[Value], bool] = _is_assumed) -> None:
    """What an object holds may be moved by code that is not seen: by its base, by its user."""
    nowhere = Unsure("may be moved from elsewhere")
    since = Step(Verb.REGISTERED, made, nowhere)
    for name, value in tuple(run.state.fields(made.ref).items()):
        if kept(value):
            continue
        if isinstance(value, (Module, OneOf)):
            move_module(run, value, nowhere, since)
        elif isinstance(value, Tensor) and value.role == "parameter":
            run.state.write(made.ref, name, replace(value, device=nowhere))


@instantiates(OBJECT)
@contextmanager
def make_object(
    run: Run, cls: Class, arguments: Arguments, place: cst.CSTNode
) -> Iterator[Instance]:
    """An object that is no Module: a base that is not seen may move what it holds."""
    made = Instance(run.allocate(place, cls.name), cls.name)
    if isinstance(place, cst.Call) and not _begins(run, cls):
        begin_of_library(run, made, cls, arguments, place)
    yield made
    if has_unseen_base(cls):
        let_go_of_parts(run, made)


@begins(Instance)
def begin_of_library(
    run: Run, inner: Instance, cls: Class | None, arguments: Arguments, node: cst.Call
) -> None:
    """The `__init__` of a library's class, such as a Trainer, may move what it is given."""
    if cls is not None and (base := torch_base(cls)):
        call_marked(run, base, arguments, node)


@stands_alone(MODULE)
def make_module_alone(run: Run, cls: Class, make: Callable[[Arguments], Made]) -> Made:
    """A Module whose device is the caller's choice, unless it moves itself as it is built.

    Where it makes one part on a device that it is given, and another on the CPU, that is reported,
    and whoever has the Module may move it: then its parts are where they meet.
    """
    made = make(Arguments(open=True, may_name=True))
    announce_made_apart(run, cls, made)
    if is_made_apart(run, made):
        nowhere = Unsure("a Module that makes its parts apart may be moved")
        move_module(run, made, nowhere, Step(Verb.REGISTERED, cls.node, nowhere))
        return made
    copies = own_copies(run, made)
    place = run.state.read(made.ref, DEVICE_FIELD)
    if isinstance(place, Placed) and not _places_itself(place):
        device = DeviceOf("self")
        move_module(run, made, device, Step(Verb.REGISTERED, cls.node, device))
    for copy, own in copies:
        move_module(run, copy, own.device, own.since)
    return made


def _places_itself(place: Placed) -> bool:
    """Whether a Module is moved as it is built; a parameter alone that is made elsewhere is not."""
    return place.device != CPU and place.since.verb is Verb.MOVED


@stands_alone(OBJECT)
def make_object_alone(run: Run, cls: Class, make: Callable[[Arguments], Made]) -> Made:
    """An object whose parts are where the caller wants them, but for those that it has moved."""
    made = make(Arguments(open=True, may_name=True))

    def is_kept(value: Value) -> bool:
        return _is_assumed(value) or (isinstance(value, Module) and _is_sent(run, value))

    release(run, made, _is_assumed if has_unseen_base(cls) else is_kept)
    return made


def _is_sent(run: Run, module: Module) -> bool:
    """Whether whoever built a module has moved it to an accelerator, or to a chosen device."""
    place = module_device(run, module)
    return place.since.verb is Verb.MOVED and may_be_accelerator(place.device)


def release(run: Run, made: Made, kept: Callable[[Value], bool] = _is_assumed) -> None:
    """What an object holds is where the caller wants it, but for copies with their own device."""
    assert isinstance(made, Instance)
    copies = own_copies(run, made)
    let_go_of_parts(run, made, kept)
    for copy, own in copies:
        move_module(run, copy, own.device, own.since)


@begins(Module)
def _init_of_torch(
    run: Run, inner: Module, cls: Class | None, arguments: Arguments, node: cst.Call
) -> None:
    """`super().__init__(a, b)` of a class derived from Sequential fills it.

    That of a class derived from Linear makes the parameters, where it is clear on which device.
    """
    base = torch_base(cls) if cls is not None else ""
    knowledge = module_class(base)
    if knowledge is None:
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
    given = arguments.keywords.get("device")
    given = given or next(
        (one for one in arguments.positional if _may_name_device(one.value)), None
    )
    if given is not None and given.value != NONE:
        device = device_named(run, given) or Unsure("the device is not known")
        run.state.write(inner.ref, DEVICE_FIELD, Placed(device, Step(Verb.BUILT, node, device)))
    elif not all(isinstance(one.value, (Const, HostValue)) for one in arguments):
        return
    run.state.write(inner.ref, TORCH_FIELD, ImportedName(base))

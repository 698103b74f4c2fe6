"""Modules of torch's own classes, built: leaves, losses, containers and wrappers."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devicelint.domain.devices import Device, Unsure
from devicelint.domain.state import DEVICE_FIELD
from devicelint.domain.values import (
    HOST,
    NONE,
    Const,
    DictOf,
    ListOf,
    Module,
    Placed,
    Symbolic,
    Tensor,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.objects import module_device
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.python.containers.contents import (
    element_of,
    extend,
    known_elements,
    known_entries,
)
from devicelint.interpreter.python.containers.fields import ELEMENT, LENGTH, is_key_field
from devicelint.interpreter.python.containers.lists import forget_order
from devicelint.interpreter.torch.devices.arguments import demand, device_named
from devicelint.interpreter.torch.devices.written_out import note_own
from devicelint.interpreter.torch.modules.children import keep_in_order
from devicelint.interpreter.torch.modules.registration import built
from devicelint.interpreter.torch.parallel import note_wrapped, one_alike
from devicelint.knowledge import ModuleKind, ModuleKnowledge


def build_module(
    run: Run, name: str, knowledge: ModuleKnowledge, arguments: Arguments, site: cst.Call
) -> Value:
    """A new module of one of torch's classes."""
    device: Device = run.default_device
    given = arguments.keywords.get("device")
    if given is not None and given.value != NONE:
        device = device_named(run, given) or Unsure("the device is not known")
        device = demand(run, given, device, site, "device=")
        note_own(run, site)
    if knowledge.kind in (ModuleKind.CONTAINER, ModuleKind.WRAPPER):
        before = _made_before(run, knowledge.full_name, arguments, site)
        if before is not None:
            return before
    module = built(run, site, knowledge.full_name, device)
    match knowledge.kind:
        case ModuleKind.CONTAINER:
            fill_container(run, module, knowledge.name, arguments)
        case ModuleKind.WRAPPER:
            _wrap(run, module, arguments)
            note_wrapped(run, module, arguments, site)
        case ModuleKind.LOSS | ModuleKind.LEAF:
            _keep_buffers(run, module, knowledge, arguments)
    return module


def _made_before(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Module | None:
    """A module around one that the same call has made, `net = Sequential(net, layer)` in a loop.

    It is that one, with what comes to it: a call has one object for all that it makes.
    """
    address = run.allocated(site, name)
    values = [argument.value for argument in arguments.positional]
    for value in values:
        if isinstance(value, Module) and value.ref == address:
            for other in values:
                if other is not value:
                    extend(run, value.ref, other)
            return value
    return None


def fill_container(run: Run, module: Module, name: str, arguments: Arguments) -> None:
    """Sequential(a, b), ModuleList([a, b]), ModuleDict({…}): what is inside is registered."""
    for argument in arguments.positional:
        value = argument.value
        if isinstance(value, DictOf):
            _fill_by_name(run, module, name, value)
        elif name == "Sequential":
            extend(run, module.ref, value)
        else:
            fill_with(run, module, name, argument)
    for unpacked in arguments.unpacked:
        _take_in(run, module, unpacked)
    if arguments.open:
        run.state.write(module.ref, LENGTH, HOST)


def _fill_by_name(run: Run, module: Module, name: str, given: DictOf) -> None:
    entries = known_entries(run, given) if name == "Sequential" else None
    for key, inner in entries or ():
        if isinstance(key, Const):
            keep_in_order(run, module, str(key.value), inner)
            run.state.write(module.ref, str(key.value), inner)
    if entries is None:
        for field, inner in tuple(run.state.fields(given.ref).items()):
            run.state.write(module.ref, field, _as_registered(name, inner))


def _take_in(run: Run, module: Module, value: Value) -> None:
    """All modules of a list are registered, however many there are and whatever lies beside."""
    held = run.state.fields(value.ref).items() if isinstance(value, ListOf) else ()
    for name, one in tuple(held):
        if isinstance(one, Module) and (name == ELEMENT or is_key_field(name)):
            run.state.write(module.ref, f"@of {one.ref}", one)


def fill_with(run: Run, module: Module, name: str, argument: Argument) -> None:
    """`ModuleList(layers)`, `modules.extend(layers)`: each of them is registered."""
    elements = known_elements(run, argument.value)
    for element in elements or (element_of(run, argument.value, argument.site),):
        extend(run, module.ref, _as_registered(name, element))
    if elements is None:
        _take_in(run, module, argument.value)
        run.state.write(module.ref, LENGTH, HOST)


def fill_at(run: Run, module: Module, name: str, argument: Argument, *, last: bool) -> None:
    """`modules.append(layer)`, `modules.insert(2, layer)`: one more is registered."""
    if not last:
        forget_order(run, module.ref)
    extend(run, module.ref, _as_registered(name, argument.value))


def _as_registered(name: str, value: Value) -> Value:
    """What a container keeps: a list or a dictionary of parameters makes any tensor one."""
    if name in ("ParameterList", "ParameterDict") and isinstance(value, Tensor):
        return replace(value, role="parameter") if not value.role else value
    return value


def _wrap(run: Run, module: Module, arguments: Arguments) -> None:
    inner = arguments.get(0, "module")
    if inner is None:
        return
    run.state.write(module.ref, "module", inner.value)
    wrapped = one_alike(run, inner.value)
    if wrapped is not None:
        run.state.write(module.ref, DEVICE_FIELD, module_device(run, wrapped))
        return
    place = Placed(Unsure("what is wrapped is not known"), module.since)
    if isinstance(inner.value, Placed):
        place = inner.value
    run.state.write(module.ref, DEVICE_FIELD, place)


def _keep_buffers(
    run: Run, module: Module, knowledge: ModuleKnowledge, arguments: Arguments
) -> None:
    """A loss keeps its weight as a buffer, where the weight was."""
    if knowledge.init is None:
        return
    names = knowledge.init.names(len(arguments.positional), tuple(arguments.keywords))
    for name, argument in zip(names, arguments, strict=False):
        value = argument.value
        if name in knowledge.buffers and value != NONE:
            kept = value
            if isinstance(value, Tensor):
                scalar = False if knowledge.name in _WEIGHTS_EACH_CLASS else value.scalar
                kept = Tensor(value.device, value.since, scalar, False, "buffer")
                run.note_made(argument.site)
                run.state.write(module.ref, f"@site:{name}", Const(name, argument.site))
            elif isinstance(value, (Symbolic, Unknown)):
                kept = Unknown("a buffer from outside")
            run.state.write(module.ref, name, kept)


_WEIGHTS_EACH_CLASS = ("CrossEntropyLoss", "NLLLoss", "NLLLoss2d", "MultiMarginLoss")
"""Losses whose weight has one dimension, whatever it was made from."""

"""Modules: torch's own classes built and called, `.to()` in place, parameters."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devicelint.domain.devices import CPU, Device, Unsure, agreement
from devicelint.domain.events import Operand, Transfer
from devicelint.domain.history import Step, Verb
from devicelint.domain.state import DEVICE_FIELD
from devicelint.domain.values import (
    HOST,
    NONE,
    Batch,
    Const,
    DictOf,
    Function,
    Module,
    Moved,
    OneOf,
    Outside,
    Parameters,
    Stream,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.arguments import Argument, Arguments
from devicelint.interpreter.attributes import member_of, module_device
from devicelint.interpreter.calls import arguments_of
from devicelint.interpreter.classes import call_module_of_file
from devicelint.interpreter.containers import LENGTH, element_of, extend, known_elements
from devicelint.interpreter.frame import Frame
from devicelint.interpreter.functions import call_function
from devicelint.interpreter.loads import note_moved
from devicelint.interpreter.operands import (
    DIFFERENT,
    is_excused,
    operand_of,
    report_clash,
    report_input,
)
from devicelint.interpreter.registration import any_parameter, built, move_module
from devicelint.interpreter.run import Run, calls, methods
from devicelint.interpreter.signatures import apply_signature
from devicelint.interpreter.transfers import (
    TRANSFERS,
    demand,
    device_named,
    move_deviceless,
    target_of,
)
from devicelint.knowledge import ModuleKind, ModuleKnowledge, module_class

WRAPPED = "@wrapped"


def build_module(
    run: Run, name: str, knowledge: ModuleKnowledge, arguments: Arguments, site: cst.Call
) -> Value:
    """A new module of one of torch's classes."""
    device: Device = run.default_device
    given = arguments.keywords.get("device")
    if given is not None and given.value != NONE:
        device = device_named(run, given) or Unsure("the device is not known")
        device = demand(run, given, device, site, "device=")
    module = built(run, site, f"torch.nn.{knowledge.name}", device)
    match knowledge.kind:
        case ModuleKind.CONTAINER:
            fill_container(run, module, knowledge.name, arguments)
        case ModuleKind.WRAPPER:
            _wrap(run, module, arguments)
        case ModuleKind.LOSS | ModuleKind.LEAF:
            _keep_buffers(run, module, knowledge, arguments)
    return module


def fill_container(run: Run, module: Module, name: str, arguments: Arguments) -> None:
    """Sequential(a, b), ModuleList([a, b]), ModuleDict({…}): what is inside is registered."""
    for argument in arguments.positional:
        value = argument.value
        if isinstance(value, DictOf):
            for field, inner in tuple(run.state.fields(value.ref).items()):
                run.state.write(module.ref, field, inner)
            continue
        if name == "Sequential" or isinstance(value, (Module, OneOf)):
            extend(run, module.ref, value)
            continue
        elements = known_elements(run, value)
        for element in elements or (element_of(run, value, argument.site),):
            extend(run, module.ref, element)
        if elements is None:
            run.state.write(module.ref, LENGTH, HOST)
    if arguments.open:
        run.state.write(module.ref, LENGTH, HOST)


def _wrap(run: Run, module: Module, arguments: Arguments) -> None:
    inner = arguments.get(0, "module")
    if inner is None:
        return
    run.state.write(module.ref, "module", inner.value)
    if isinstance(inner.value, Module):
        run.state.write(module.ref, DEVICE_FIELD, module_device(run, inner.value))
        return
    place = Moved(Unsure("what is wrapped is not known"), module.since)
    if isinstance(inner.value, Moved):
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
            elif isinstance(value, (Outside, Unknown)):
                kept = Unknown("a buffer from outside")
            run.state.write(module.ref, name, kept)


_WEIGHTS_EACH_CLASS = ("CrossEntropyLoss", "NLLLoss", "NLLLoss2d", "MultiMarginLoss")
"""Losses whose weight has one dimension, whatever it was made from."""


@calls(Module)
def call_module(run: Run, callee: Module, arguments: Arguments, site: cst.Call) -> Value:
    """`module(x)`: its inputs should be where it is."""
    result = call_module_of_file(run, callee, arguments, site)
    if result is not None:
        return result
    knowledge = module_class(callee.name)
    if knowledge is None:
        return call_opaque_module(run, callee, arguments, site)
    if knowledge.kind is ModuleKind.CONTAINER:
        return _call_container(run, callee, knowledge.name, arguments, site)
    if knowledge.kind is ModuleKind.WRAPPER:
        return _call_wrapper(run, callee, arguments, site)
    if knowledge.forward is None:
        return Unknown(f"the result of {knowledge.name}")
    return _call_leaf(run, callee, knowledge, arguments, site)


def _call_leaf(
    run: Run, module: Module, knowledge: ModuleKnowledge, arguments: Arguments, site: cst.Call
) -> Value:
    forward = knowledge.forward
    assert forward is not None
    func = site.func
    if forward.owns is not None:
        return _call_owner(run, module, knowledge, arguments, site)
    given = arguments
    for name in knowledge.buffers:
        weight = run.state.read(module.ref, name)
        if isinstance(weight, Tensor):
            given_at = getattr(run.state.read(module.ref, f"@site:{name}"), "site", None)
            kept = Operand(given_at or weight.since.site, weight, weight.device, weight.since)
            _check_weight(run, kept, arguments, site)
    result = apply_signature(run, forward, given, site, name=_called(run, func))
    reduction = run.state.read(module.ref, "@reduction")
    if reduction is not None and isinstance(result, Tensor):
        return Tensor(result.device, result.since, None, result.grad)
    return result


def _called(run: Run, func: cst.BaseExpression) -> str:
    return run.code_of(func)


def _check_weight(run: Run, weight: Operand, arguments: Arguments, site: cst.Call) -> None:
    """The class weights of a loss are a buffer of it, and meet the output."""
    if is_excused(weight) is not False:
        return
    for argument in arguments:
        operand = operand_of(argument.value, argument.site)
        if operand is None:
            continue
        if agreement(weight.device, operand.device) in DIFFERENT:
            pair = (weight, operand) if weight.device == CPU else (operand, weight)
            report_clash(run, site, _called(run, site.func), pair)
            return


def _call_owner(
    run: Run, module: Module, knowledge: ModuleKnowledge, arguments: Arguments, site: cst.Call
) -> Value:
    """A module with parameters: each input is compared with the module's device."""
    assert knowledge.forward is not None
    if module.ref in run.hidden:
        _go_on_as_registered(run, module, arguments)
    place = module_device(run, module)
    own = Operand(site.func, module, place.device, place.since)
    misplaced = False
    for argument in arguments:
        for value in _tensors_in(argument.value):
            operand = operand_of(value, argument.site)
            if operand is not None and not isinstance(value, Outside):
                misplaced = _check_input(run, site, own, operand) or misplaced
    place = module_device(run, module)
    tensor = Tensor(place.device, place.since, False, True, "parameter")
    owner = Operand(site.func, tensor, place.device, place.since)
    if misplaced:
        # What follows is checked as though the input had been moved.
        return _apply_quietly(run, knowledge, arguments, site, owner)
    return apply_signature(
        run, knowledge.forward, arguments, site, name=_called(run, site.func), owner=owner
    )


def _go_on_as_registered(run: Run, module: Module, arguments: Arguments) -> None:
    """A module that nothing registers is reported as such: it is taken to be with its inputs."""
    for argument in arguments:
        operand = operand_of(argument.value, argument.site)
        if operand is not None and operand.since is not None:
            move_module(run, module, operand.device, operand.since)
            return


def _apply_quietly(
    run: Run, knowledge: ModuleKnowledge, arguments: Arguments, site: cst.Call, owner: Operand
) -> Value:
    assert knowledge.forward is not None
    moved = Arguments(
        [_moved_to(owner, one) for one in arguments.positional],
        {name: _moved_to(owner, one) for name, one in arguments.keywords.items()},
        arguments.open,
    )
    with run.silence():
        return apply_signature(run, knowledge.forward, moved, site, owner=owner)


def _moved_to(owner: Operand, argument: Argument) -> Argument:
    value = argument.value
    if isinstance(value, (Tensor, Batch)):
        value = replace(value, device=owner.device, since=owner.since or value.since)
    return Argument(argument.site, value)


def _tensors_in(value: Value) -> tuple[Value, ...]:
    if isinstance(value, Tuple):
        return tuple(inner for item in value.items for inner in _tensors_in(item))
    return (value,)


def _check_input(run: Run, site: cst.Call, own: Operand, operand: Operand) -> bool:
    if agreement(own.device, operand.device) not in DIFFERENT:
        return False
    met = report_input(run, site, own, operand)
    if isinstance(own.value, Module) and own.value.ref in run.hidden:
        return True
    never_moved = met.since is not None and met.since.verb is Verb.BUILT
    if met.device == CPU and never_moved and operand.since is not None:
        # It is the module that should be elsewhere.
        move_module(run, met.value, operand.device, operand.since)
    else:
        _go_on_as_moved(run, own, operand)
    return True


def _go_on_as_moved(run: Run, own: Operand, operand: Operand) -> None:
    """What a misplaced input was passed as is where it should be, for the rest of the calls."""
    frame: Frame | None = run.frame
    while frame is not None and operand.since in frame.passed:
        for name, value in tuple(run.state.fields(frame.ref).items()):
            if isinstance(value, (Tensor, Batch)) and value.since == operand.since:
                since = own.since or value.since
                run.state.write(frame.ref, name, replace(value, device=own.device, since=since))
        frame = frame.caller


def _call_container(
    run: Run, module: Module, name: str, arguments: Arguments, site: cst.Call
) -> Value:
    if name != "Sequential":
        return Unknown(f"a {name} is not called")
    elements = known_elements(run, module)
    value = arguments.positional[0].value if arguments.positional else Unknown("no input")
    given = arguments
    if elements is None:
        return _through_unknown(run, module, value, arguments, site)
    run.sequentials.append((module, site))
    for position, element in enumerate(elements):
        value = run.call(element, given, site)
        if position == 0 and not isinstance(value, (Tensor, Tuple)):
            value = Unknown("a layer of a Sequential is not known")
            break
        given = Arguments([type(arguments.positional[0])(arguments.positional[0].site, value)])
    run.sequentials.pop()
    return value


def _through_unknown(
    run: Run, module: Module, value: Value, arguments: Arguments, site: cst.Call
) -> Value:
    """A Sequential of unknown length: the result is where its layers are."""
    place = module_device(run, module)
    own = Operand(site.func, module, place.device, place.since)
    operand = operand_of(value, arguments.positional[0].site) if arguments.positional else None
    inner = element_of(run, module, site)
    if operand is not None and isinstance(inner, Module) and not isinstance(value, Outside):
        _check_input(run, site, own, operand)
        return Tensor(place.device, place.since, None, None if run.no_grad else True)
    return Unknown("a Sequential of unknown layers")


def _call_wrapper(run: Run, module: Module, arguments: Arguments, site: cst.Call) -> Value:
    """DataParallel and its kin bring the inputs to the module's device themselves."""
    place = module_device(run, module)
    inner = run.state.read(module.ref, "module")
    if isinstance(inner, Module):
        with run.silence():
            result = run.call(inner, arguments, site)
        if isinstance(result, (Tensor, Tuple)):
            return result
    return Tensor(place.device, place.since, None, None) if inner is not None else Unknown("?")


def call_opaque_module(run: Run, module: Module, arguments: Arguments, site: cst.Call) -> Value:
    """A module that is known to be one, such as a torchvision model: one tensor in and out."""
    place = module_device(run, module)
    own = Operand(site.func, module, place.device, place.since)
    for argument in arguments.positional:
        operand = operand_of(argument.value, argument.site)
        if operand is not None and not isinstance(argument.value, Outside):
            _check_input(run, site, own, operand)
    return Unknown(f"the result of {module.name}")


def call_moved_module(run: Run, module: Moved, arguments: Arguments, site: cst.Call) -> Value:
    """Something that was moved is called: it is a module, and is where it was moved to.

    Only what the file itself treats as a plain module is checked: a module of a library may move
    its inputs by itself.
    """
    note_moved(run, module.since.site)
    if "." in module.origin:
        return Unknown(f"the result of {module.origin}")
    own = Operand(site.func, module, module.device, module.since)
    for argument in arguments.positional:
        operand = operand_of(argument.value, argument.site)
        if operand is not None and isinstance(argument.value, (Tensor, Batch)):
            _check_input(run, site, own, operand)
    return Tensor(module.device, module.since, False, not run.no_grad)


@methods(Module)
def method_of_module(run: Run, receiver: Module, name: str, node: cst.Call) -> Value:
    held = run.state.read(receiver.ref, name)
    member = held if held is not None else member_of(run, receiver.ref, name)
    arguments = arguments_of(run, node)
    if isinstance(member, Function) and held is None:
        return _call_member(run, member, receiver, arguments, node)
    if member is not None and not isinstance(member, Function):
        return run.call(member, arguments, node)
    if isinstance(member, Function):
        return run.call(member, arguments, node)
    return _builtin_method(run, receiver, name, arguments, node)


def _call_member(
    run: Run, member: Function, receiver: Module, arguments: Arguments, node: cst.Call
) -> Value:
    if member.kind == "static":
        return call_function(run, member, arguments, node)
    module = receiver if member.name == "forward" else None
    return call_function(run, member, arguments, node, receiver=receiver, module=module)


_ITSELF = frozenset(
    "train eval float half double bfloat16 requires_grad_ apply type share_memory".split()
)


def _builtin_method(
    run: Run, receiver: Module, name: str, arguments: Arguments, node: cst.Call
) -> Value:
    if name in TRANSFERS:
        return _move(run, receiver, name, arguments, node)
    if name in _ITSELF:
        return receiver
    match name:
        case "parameters":
            assert isinstance(node.func, cst.Attribute)
            return Parameters(receiver, node.func.value)
        case "register_buffer" | "register_parameter":
            _register_named(run, receiver, name, arguments)
            return NONE
        case "add_module" | "register_module":
            _add_module(run, receiver, arguments)
            return NONE
        case "append" | "extend" | "insert":
            fill_container(run, receiver, "ModuleList", arguments)
            return receiver
        case "load_state_dict":
            return Unknown("what load_state_dict gives")
        case "items":
            return Stream(Tuple((HOST, element_of(run, receiver, node))))
        case "values" | "children":
            return Stream(element_of(run, receiver, node))
        case "forward":
            return call_module(run, receiver, arguments, node)
        case "named_parameters":
            return Stream(Tuple((HOST, any_parameter(run, receiver))))
        case "modules" | "named_modules" | "state_dict" | "buffers" | "named_buffers":
            return Unknown(f"what .{name}() holds")
        case _:
            return Unknown(f"{receiver.name}.{name}()")


def _move(run: Run, module: Module, method: str, arguments: Arguments, node: cst.Call) -> Value:
    target, _ = target_of(run, method, arguments, node)
    assert isinstance(node.func, cst.Attribute)
    origin = module_device(run, module).device
    if target is not None:
        move_module(run, module, target, Step(Verb.MOVED, node, target))
    run.announce_transfer(Transfer(node, node.func.value, module, method, target, module, origin))
    return module


def _register_named(run: Run, module: Module, method: str, arguments: Arguments) -> None:
    name, tensor = arguments.get(0, "name"), arguments.get(1, "tensor")
    if method == "register_parameter":
        tensor = arguments.get(1, "param")
    if name is None or tensor is None or not isinstance(name.value, Const):
        return
    value = tensor.value
    if isinstance(value, Tensor):
        role = "buffer" if method == "register_buffer" else "parameter"
        place = module_device(run, module)
        device = value.device
        value = Tensor(device, value.since, value.scalar, value.grad, role)
        if place.device != CPU and device == CPU:
            value = Tensor(device, value.since, value.scalar, value.grad, role)
    elif not isinstance(value, Tensor):
        value = Unknown("a buffer of an unknown kind") if value != NONE else value
    run.state.write(module.ref, str(name.value.value), value)


def _add_module(run: Run, module: Module, arguments: Arguments) -> None:
    name, child = arguments.get(0, "name"), arguments.get(1, "module")
    if child is None:
        return
    known = name is not None and isinstance(name.value, Const)
    if known:
        assert name is not None and isinstance(name.value, Const)
        run.state.write(module.ref, str(name.value.value), child.value)
    else:
        extend(run, module.ref, child.value)


@methods(Parameters)
def method_of_parameters(run: Run, receiver: Parameters, name: str, node: cst.Call) -> Value:
    arguments = arguments_of(run, node)
    if name in TRANSFERS:
        return move_deviceless(run, receiver, "parameters() generator", name, node, arguments)
    return Unknown(f"a generator has no .{name}()")



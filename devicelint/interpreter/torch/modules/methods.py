"""Methods of modules: `.to()` in place, what they register, their parameters."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import libcst as cst

from devicelint.domain.devices import join_devices
from devicelint.domain.events import Transfer
from devicelint.domain.history import Step, Verb
from devicelint.domain.values import (
    HOST,
    NONE,
    Const,
    DictOf,
    Function,
    Module,
    Mover,
    Parameters,
    Placed,
    Stream,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.objects import (
    member_of,
    module_device,
    note_buffer,
    registered_under,
)
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import inherited, methods, module_method
from devicelint.interpreter.facts.device_words import MOVES
from devicelint.interpreter.python.calls import arguments_of
from devicelint.interpreter.python.containers.fields import is_shared
from devicelint.interpreter.python.functions import call_function
from devicelint.interpreter.torch.devices.arguments import note_idle_demand
from devicelint.interpreter.torch.devices.written_out import note_own
from devicelint.interpreter.torch.legacy_types import move_to_type
from devicelint.interpreter.torch.marked_calls import marked_method
from devicelint.interpreter.torch.modules.calls import (
    call_forward,
    call_forward_of_base,
    call_module,
)
from devicelint.interpreter.torch.modules.children import container_of, keep_in_order
from devicelint.interpreter.torch.modules.construction import (
    fill_at,
    fill_container,
    fill_with,
)
from devicelint.interpreter.torch.modules.copies import reached_by
from devicelint.interpreter.torch.modules.registration import (
    any_buffer,
    any_parameter,
    is_without_tensors,
    move_module,
    move_registered,
    note_seen_to,
    parameter_of,
    register_somewhere,
)
from devicelint.interpreter.torch.modules.states import state_of
from devicelint.interpreter.torch.modules.submodules import child_of, named_children, part_named
from devicelint.interpreter.torch.modules.unseen_parts import check_part
from devicelint.interpreter.torch.transfers import move_deviceless, target_of

_ITSELF = frozenset(
    "train eval float half double bfloat16 requires_grad_ apply type share_memory".split()
)


@methods(Module)
def method_of_module(run: Run, receiver: Module, name: str, node: cst.Call) -> Value:
    note_seen_to(run, receiver, name)
    held = registered_under(run, receiver, name) or part_named(run, receiver, name, node)
    member = held if held is not None else member_of(run, receiver.ref, name)
    arguments = arguments_of(run, node)
    if isinstance(member, Function) and held is None:
        if _asks_by_name(name):
            target_of(run, name, arguments, node)
        return _call_member(run, member, receiver, arguments, node)
    if member is not None:
        check_part(run, receiver, member, arguments, node)
        return run.call(member, arguments, node)
    return method_of_torch(run, receiver, name, arguments, node)


@inherited(Module)
def method_of_super(
    run: Run, receiver: Module, name: str, arguments: Arguments, node: cst.Call
) -> Value:
    """`super().cuda()` in a `cuda` of one's own: it is the caller who asks for the device."""
    with run.muted() if _is_asked_for(run, name) else nullcontext():
        return method_of_torch(run, receiver, name, arguments, node)


def _asks_by_name(name: str) -> bool:
    """Whether a call names an accelerator, as `net.cuda()` does, whatever the class makes of it."""
    return name in MOVES and name not in ("to", "cpu", "to_empty")


def _is_asked_for(run: Run, name: str) -> bool:
    node = run.frame.node
    is_override = isinstance(node, cst.FunctionDef) and node.name.value == name
    return is_override and _asks_by_name(name)


def method_of_torch(
    run: Run, receiver: Module, name: str, arguments: Arguments, node: cst.Call
) -> Value:
    """What a method does where no class in a file overrides it."""
    if name == "__call__":
        return call_forward(run, receiver, arguments, node)
    if name in MOVES:
        return _move(run, receiver, name, arguments, node)
    if name == "type":
        move_to_type(run, receiver, arguments, node)
    if name in _ITSELF:
        return receiver
    answer = marked_method(receiver.name, name)
    if answer is not None:
        return answer(run, receiver, arguments, node)
    method = module_method.get(name)
    if method is None:
        return Unknown(f"{receiver.name}.{name}()")
    return method(run, receiver, arguments, node)


def _call_member(
    run: Run, member: Function, receiver: Module, arguments: Arguments, node: cst.Call
) -> Value:
    if member.kind == "static":
        return call_function(run, member, arguments, node)
    module = receiver if member.name == "forward" else None
    return call_function(run, member, arguments, node, receiver=receiver, module=module)


def _move(run: Run, module: Module, method: str, arguments: Arguments, node: cst.Call) -> Value:
    is_idle = is_without_tensors(run, module)
    with run.muted() if is_idle else nullcontext():
        target, given = target_of(run, method, arguments, node)
    note_own(run, node)
    if is_idle and given is None and method != "to":
        note_idle_demand(run, method, node)
    assert isinstance(node.func, cst.Attribute)
    origin = module_device(run, module).device
    if target is not None:
        reached = reached_by(run, module, target)
        if isinstance(node.func.value, cst.Subscript) and is_shared(run, module.ref):
            reached = join_devices(origin, target)
        move_module(run, module, reached, Step(Verb.MOVED, node, reached, of_module=True))
    run.announce_transfer(Transfer(node, node.func.value, module, method, target, module, origin))
    return module


@module_method("parameters")
def _parameters(run: Run, module: Module, arguments: Arguments, node: cst.Call) -> Value:
    assert isinstance(node.func, cst.Attribute)
    return Parameters(module, node.func.value)


@module_method("named_parameters")
def _named_parameters(run: Run, module: Module, arguments: Arguments, node: cst.Call) -> Value:
    return Stream(Tuple((HOST, any_parameter(run, module))), filled=True)


@module_method("buffers")
def _buffers(run: Run, module: Module, arguments: Arguments, node: cst.Call) -> Value:
    return Stream(any_buffer(run, module))


@module_method("named_buffers")
def _named_buffers(run: Run, module: Module, arguments: Arguments, node: cst.Call) -> Value:
    return Stream(Tuple((HOST, any_buffer(run, module))))


@module_method("state_dict")
def _state_dict(run: Run, module: Module, arguments: Arguments, node: cst.Call) -> Value:
    return state_of(run, module, node)


@module_method("items", "named_children")
def _items(run: Run, module: Module, arguments: Arguments, node: cst.Call) -> Value:
    children = named_children(run, module)
    parts = tuple(Tuple((Const(name), child)) for name, child in children)
    return Stream(Tuple((HOST, child_of(run, module, children, node))), bool(parts), parts)


@module_method("values", "children")
def _values(run: Run, module: Module, arguments: Arguments, node: cst.Call) -> Value:
    children = named_children(run, module)
    parts = tuple(child for _, child in children)
    return Stream(child_of(run, module, children, node), bool(parts), parts)


@module_method("forward")
def _forward(run: Run, module: Module, arguments: Arguments, node: cst.Call) -> Value:
    if isinstance(member_of(run, module.ref, "forward"), Function):
        return call_forward_of_base(run, module, arguments, node)
    return call_module(run, module, arguments, node)


@module_method("append", "insert")
def _append(run: Run, module: Module, arguments: Arguments, node: cst.Call) -> Value:
    if arguments.positional:
        last = len(arguments.positional) == 1
        fill_at(run, module, container_of(run, module), arguments.positional[-1], last=last)
    return module


@module_method("extend", "update")
def _extend(run: Run, module: Module, arguments: Arguments, node: cst.Call) -> Value:
    for argument in arguments.positional:
        if isinstance(argument.value, DictOf):
            fill_container(run, module, container_of(run, module), Arguments([argument]))
        else:
            fill_with(run, module, container_of(run, module), argument)
    return module


@module_method("_apply")
def _apply(run: Run, module: Module, arguments: Arguments, node: cst.Call) -> Value:
    """The function brings each tensor along, and so the Module: by what it does to one of them."""
    given = arguments.get(0, "fn")
    if given is None:
        return module
    place: Value = given.value
    if not isinstance(place, Mover):
        one = Arguments([Argument(node, replace(parameter_of(run, module), role=""))])
        place = run.call(given.value, one, node)
    if isinstance(place, (Mover, Tensor)):
        move_registered(run, module, Placed(place.device, place.since))
    return module


@module_method("register_buffer")
def _register_buffer(run: Run, module: Module, arguments: Arguments, node: cst.Call) -> Value:
    return _register(run, module, arguments, "tensor", "buffer")


@module_method("register_parameter")
def _register_parameter(run: Run, module: Module, arguments: Arguments, node: cst.Call) -> Value:
    return _register(run, module, arguments, "param", "parameter")


def _register(run: Run, module: Module, arguments: Arguments, given_as: str, role: str) -> Value:
    name, given = arguments.get(0, "name"), arguments.get(1, given_as)
    if name is None or (given is None and not arguments.keywords.keys() - {"name"}):
        return NONE
    value = Unknown("an override that is not seen registers it") if given is None else given.value
    if isinstance(value, Tensor):
        value = replace(value, role=role)
    elif value != NONE:
        value = Unknown(f"a {role} of an unknown kind")
    if not isinstance(name.value, Const):
        register_somewhere(run, module, value)
        return NONE
    if role == "buffer":
        note_buffer(run, module, str(name.value.value))
    run.state.write(module.ref, str(name.value.value), value)
    return NONE


@module_method("add_module", "register_module")
def _add_module(run: Run, module: Module, arguments: Arguments, node: cst.Call) -> Value:
    name, child = arguments.get(0, "name"), arguments.get(1, "module")
    if child is None:
        return NONE
    if name is not None and isinstance(name.value, Const):
        keep_in_order(run, module, str(name.value.value), child.value)
        run.state.write(module.ref, str(name.value.value), child.value)
    else:
        register_somewhere(run, module, child.value)
    return NONE


@methods(Parameters)
def method_of_parameters(run: Run, receiver: Parameters, name: str, node: cst.Call) -> Value:
    arguments = arguments_of(run, node)
    if name in MOVES:
        return move_deviceless(run, receiver, "parameters() generator", name, node, arguments)
    return Unknown(f"a generator has no .{name}()")

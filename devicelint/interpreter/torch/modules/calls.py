"""Modules called: their inputs should be where they are."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devicelint.domain.devices import CPU, agreement
from devicelint.domain.events import Operand
from devicelint.domain.values import (
    Batch,
    Module,
    OneOf,
    Symbolic,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.objects import module_device
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import calls
from devicelint.interpreter.python.classes import (
    call_module_of_file,
    forward_of_file,
    torch_base_of,
)
from devicelint.interpreter.python.containers.contents import element_of, known_elements
from devicelint.interpreter.torch.modules.hooks import after_forward, before_forward
from devicelint.interpreter.torch.modules.inputs import check_again, check_input
from devicelint.interpreter.torch.modules.opaque import call_opaque_module
from devicelint.interpreter.torch.modules.registration import (
    PlainlyKept,
    move_module,
    owns_tensors,
)
from devicelint.interpreter.torch.modules.unplaced import unplaced_for
from devicelint.interpreter.torch.operations.excuses import DIFFERENT
from devicelint.interpreter.torch.operations.meetings import is_chosen
from devicelint.interpreter.torch.operations.operands import mixes_as_scalar, operand_of
from devicelint.interpreter.torch.operations.reports import report_clash
from devicelint.interpreter.torch.operations.signatures import apply_signature
from devicelint.interpreter.torch.parallel import call_wrapped, note_parallel_call
from devicelint.interpreter.torch.processes.ranks import is_a_matrix
from devicelint.knowledge import (
    ModuleKind,
    ModuleKnowledge,
    module_class,
)


@calls(Module)
def call_module(run: Run, callee: Module, arguments: Arguments, site: cst.Call) -> Value:
    """`module(x)`: its inputs should be where it is."""
    place = module_device(run, callee)
    knowledge = module_class(callee.name) or _knowledge_of_base(run, callee)
    if knowledge is None:
        knowledge = run.guesses.module(callee.name)
    own = Operand(site.func, callee, place.device, place.since)
    run.steps.module_called(own, arguments)
    if knowledge is None or knowledge.kind is not ModuleKind.WRAPPER:
        check_again(run, own, arguments, site)
    arguments = before_forward(run, callee, arguments, site)
    with unplaced_for(run, callee, arguments):
        result = call_module_of_file(run, callee, arguments, site)
    if result is None:
        result = _forward_of_library(run, callee, knowledge, arguments, site)
    return after_forward(run, callee, arguments, result, site)


def call_forward(run: Run, module: Module, arguments: Arguments, site: cst.Call) -> Value:
    """What `super().__call__(x)` does: the `forward` of the Module itself."""
    result = forward_of_file(run, module, arguments, site)
    return result or Unknown("the forward of a base that is not seen")


def call_forward_of_base(run: Run, module: Module, arguments: Arguments, site: cst.Call) -> Value:
    """What `super().forward(x)` does in a class derived from one of torch's."""
    knowledge = _knowledge_of_base(run, module)
    if knowledge is None:
        return Unknown("the forward of a base that is not seen")
    return _forward_of_library(run, module, knowledge, arguments, site)


def _knowledge_of_base(run: Run, module: Module) -> ModuleKnowledge | None:
    """What is known of the class of torch that the class of a Module extends."""
    base = torch_base_of(run, module)
    return None if base is None else module_class(base)


def _forward_of_library(
    run: Run,
    callee: Module,
    knowledge: ModuleKnowledge | None,
    arguments: Arguments,
    site: cst.Call,
) -> Value:
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
    if mixes_as_scalar(weight) is not False:
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
    if module.ref in run.notes(PlainlyKept).refs:
        _go_on_as_registered(run, module, arguments)
    place = module_device(run, module)
    own = Operand(site.func, module, place.device, place.since)
    misplaced = False
    for argument in arguments:
        for value in _tensors_in(argument.value):
            operand = operand_of(value, argument.site)
            if operand is not None and not isinstance(value, Symbolic):
                misplaced = check_input(run, site, own, operand) or misplaced
    place = module_device(run, module)
    tensor = Tensor(place.device, place.since, False, True, "parameter")
    owner = Operand(site.func, tensor, place.device, place.since)
    if not misplaced:
        _check_own_parameters(run, module, arguments, site)
    if misplaced:
        # What follows is checked as though the input had been moved.
        return _apply_quietly(run, knowledge, arguments, site, owner)
    called = _called(run, site.func)
    result = apply_signature(run, knowledge.forward, arguments, site, name=called, owner=owner)
    return _as_matrix(result) if is_a_matrix(arguments) else result


def _check_own_parameters(run: Run, module: Module, arguments: Arguments, site: cst.Call) -> None:
    """One parameter may have got data of another place than its Module has."""
    for value in run.state.fields(module.ref).values():
        if isinstance(value, Tensor) and value.role == "parameter":
            at = value.since.site
            _check_weight(run, Operand(at, value, value.device, value.since), arguments, site)


def _as_matrix(result: Value) -> Value:
    """What layers make of two dimensions or more has as many."""
    match result:
        case Tensor(scalar=False):
            return replace(result, least=max(2, result.least))
        case Tuple(items, names):
            return Tuple(tuple(map(_as_matrix, items)), names)
        case _:
            return result


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
    with run.muted():
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


def _call_container(
    run: Run, module: Module, name: str, arguments: Arguments, site: cst.Call
) -> Value:
    if name != "Sequential":
        return Unknown(f"a {name} is not called")
    if not arguments.positional:
        return Unknown("no input")
    elements = known_elements(run, module)
    value = arguments.positional[0].value
    given = arguments
    if elements is None:
        return _through_unknown(run, module, value, arguments, site)
    run.sequentials.append((module, site))
    for position, element in enumerate(elements):
        value = run.call(element, given, site)
        if position == 0 and not isinstance(value, (Tensor, Tuple)):
            value = _through_unseen(run, module, value)
            if not isinstance(value, Tensor):
                break
        given = Arguments([type(arguments.positional[0])(arguments.positional[0].site, value)])
    run.sequentials.pop()
    return value


def _through_unseen(run: Run, module: Module, value: Value) -> Value:
    """What a layer gives whose code is not seen, which went with the others where these are."""
    place = module_device(run, module)
    if isinstance(value, Unknown) and is_chosen(place.device):
        return Tensor(place.device, place.since, False, None if run.no_grad else True)
    return Unknown("a layer of a Sequential is not known")


def _through_unknown(
    run: Run, module: Module, value: Value, arguments: Arguments, site: cst.Call
) -> Value:
    """A Sequential of unknown length: the result is where its layers are, or where all went."""
    place = module_device(run, module)
    own = Operand(site.func, module, place.device, place.since)
    operand = operand_of(value, arguments.positional[0].site) if arguments.positional else None
    inner = element_of(run, module, site)
    options = inner.options if isinstance(inner, OneOf) else (inner,)
    are_there = all(
        isinstance(one, Module) and module_device(run, one).device == place.device
        for one in options
    )
    if are_there and not owns_tensors(run, module):
        return Unknown("layers that have nothing to be anywhere")
    is_there = are_there or is_chosen(place.device)
    if operand is not None and is_there and not isinstance(value, Symbolic):
        check_input(run, site, own, operand)
        return Tensor(place.device, place.since, None, None if run.no_grad else True)
    return Unknown("a Sequential of unknown layers")


def _call_wrapper(run: Run, module: Module, arguments: Arguments, site: cst.Call) -> Value:
    """DataParallel and its kin bring the inputs to the module's device themselves."""
    note_parallel_call(run, module, site)
    place = module_device(run, module)
    inner = run.state.read(module.ref, "module")
    if isinstance(inner, Module):
        result = call_wrapped(run, module, inner, arguments, site)
        if isinstance(result, (Tensor, Tuple)):
            return result
    return Tensor(place.device, place.since, None, None) if inner is not None else Unknown("?")

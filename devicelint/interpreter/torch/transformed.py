"""What calls something else, or is chosen by a name: `Function.apply`, `functional_call`."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial

import libcst as cst

from devicelint.domain.devices import Device, Unsure
from devicelint.domain.events import Operand
from devicelint.domain.history import Step
from devicelint.domain.values import (
    DictOf,
    Module,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.objects import module_device
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import function
from devicelint.interpreter.python.containers.contents import known_elements, parts_of
from devicelint.interpreter.torch.modules.registration import move_module
from devicelint.interpreter.torch.operations.operands import (
    common_device,
    computed,
    find_clash,
    grad_of_operands,
    operand_of,
)
from devicelint.interpreter.torch.operations.reports import report_clash

_STATELESS = (
    "torch.func.functional_call",
    "torch.nn.utils.stateless.functional_call",
)


@function("torch._dynamo.disable")
def same_function(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """What takes the same arguments, and works where they are."""
    given = arguments.get(0, "fn")
    return Unknown(f"{name} of nothing") if given is None else given.value


@function("torch.nn.parallel.data_parallel")
def in_parallel(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """The module is called; its inputs are brought to it, and the outputs to its device."""
    module, inputs = arguments.get(0, "module"), arguments.get(1, "inputs")
    if module is None or inputs is None:
        return Unknown("a module without inputs")
    with run.muted():
        return run.call(module.value, Arguments([inputs]), site)


@function("torch.nn.functional.anything")
def by_name(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """`getattr(F, name)(x)`: whichever function it is, the result is where the tensors are."""
    operands = [operand_of(one.value, one.site) for one in arguments]
    tensors = [one for one in operands if one is not None]
    if not tensors:
        return Unknown("a function that a name chooses")
    device, since = common_device(tensors, unknown=False)
    grad = grad_of_operands(tensors, unknown=False)
    return Tensor(device, computed(site, device, since), None, False if run.no_grad else grad)


@function("torch.nn.utils.skip_init")
def without_values(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """A module of the class, whose parameters have no values yet."""
    made = arguments.get(0, "module_cls")
    if made is None:
        return Unknown("no class is given to skip_init()")
    rest = Arguments(arguments.positional[1:], arguments.keywords, arguments.open)
    return run.call(made.value, rest, site)


@function("typing.cast", "torch.jit.annotate", "typing_extensions.cast")
def cast(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """The value, whatever is said to be its type."""
    given = arguments.get(1, "val")
    return Unknown("a cast of nothing") if given is None else given.value


@function(*_STATELESS)
def stateless(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """The module is called; its parameters are replaced by others for that time."""
    module, inputs = arguments.get(0, "module"), arguments.get(2, "args")
    if module is None or inputs is None:
        return Unknown("a module without inputs")
    several = known_elements(run, inputs.value)
    given = [inputs] if several is None else [Argument(inputs.site, one) for one in several]
    named = arguments.get(3, "kwargs")
    is_open = named is not None and isinstance(named.value, DictOf)
    call = partial(run.call, module.value, Arguments(given, {}, is_open), site)
    parameters = arguments.get(1, "parameter_and_buffer_dicts")
    place = _place_of_all(run, parameters)
    apart = _find_apart(run, parameters)
    if apart is not None:
        report_clash(run, site, name, apart)
    if not isinstance(module.value, Module):
        with run.muted():
            return call()
    before = module_device(run, module.value)
    nowhere = Unsure("its parameters are given here")
    move_module(run, module.value, *(place or (nowhere, before.since)))
    with run.muted() if place is None else nullcontext():
        result = call()
    move_module(run, module.value, before.device, before.since)
    return result


def _find_apart(run: Run, given: Argument | None) -> tuple[Operand, Operand] | None:
    """Two of the parameters that are on two devices, and meet in the module."""
    if given is None:
        return None
    held = [operand_of(one, given.site) for one in _given_parts(run, given.value)]
    return find_clash([(one, False) for one in held if one is not None])


def _place_of_all(run: Run, given: Argument | None) -> tuple[Device, Step] | None:
    """Where the parameters of a dictionary are; None where that is not one device."""
    if given is None:
        return None
    held = _given_parts(run, given.value)
    places = {one.device: one.since for one in held if isinstance(one, Tensor)}
    return next(iter(places.items())) if len(places) == 1 else None


def _given_parts(run: Run, value: Value) -> tuple[Value, ...]:
    """What a dictionary holds, or each of several: `(parameters, buffers)`."""
    if isinstance(value, Tuple):
        return tuple(part for one in value.items for part in _given_parts(run, one))
    return parts_of(run, value) if isinstance(value, DictOf) else ()

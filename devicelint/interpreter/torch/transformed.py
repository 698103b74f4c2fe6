"""What calls something else, or is chosen by a name: `Function.apply`, `torch.func`."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.values import Class, DictOf, Function, Tensor, Tuple, Unknown, Value
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.objects import class_member
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import function
from devicelint.interpreter.python.containers.contents import known_elements
from devicelint.interpreter.python.functions import call_function
from devicelint.interpreter.torch.operations.operands import (
    common_device,
    computed,
    grad_of_operands,
    operand_of,
)

_STATELESS = (
    "torch.func.functional_call",
    "torch.nn.utils.stateless.functional_call",
)


@function("torch.vmap", "torch.func.vmap", "functorch.vmap", "torch._dynamo.disable")
def same_function(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """What takes the same arguments, and works where they are."""
    given = arguments.get(0, "func" if name.endswith("vmap") else "fn")
    return Unknown(f"{name} of nothing") if given is None else given.value


@function("torch.autograd.Function.apply", "torch.autograd.function.Function.apply")
def applied(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """`Scale.apply(x)` calls the `forward` of the class, with a context first, or without one."""
    cls = arguments.positional[0].value if arguments.positional else None
    forward = class_member(run, cls, "forward") if isinstance(cls, Class) else None
    if not isinstance(cls, Class) or not isinstance(forward, Function):
        return Unknown(f"{name} of an unknown class")
    context = Argument(site, Unknown("the context of a Function"))
    has_own = class_member(run, cls, "setup_context") is not None
    given = arguments.positional[1:] if has_own else [context, *arguments.positional[1:]]
    return call_function(run, forward, Arguments(given, {}, arguments.open), site)


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


@function("torch.func.vjp", "functorch.vjp")
def with_products(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """What the function gives, and a function of its gradients."""
    called = arguments.get(0, "func")
    if called is None:
        return Unknown("no function is given to vjp()")
    made = run.call(called.value, Arguments(arguments.positional[1:], {}, arguments.open), site)
    return Tuple((made, Unknown("products with gradients")))


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
    with run.muted():
        return run.call(module.value, Arguments(given, {}, is_open), site)

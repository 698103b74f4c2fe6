"""What runs in a backward pass: hooks of gradients, and the `backward` of a Function."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.values import (
    NONE,
    Bound,
    Class,
    Function,
    ImportedName,
    Instance,
    Partial,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.objects import class_member
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.steps import Notes
from devicelint.interpreter.engine.tables import function, tensor_method
from devicelint.interpreter.python.functions import call_function
from devicelint.interpreter.torch.operations.signatures import apply_signature
from devicelint.knowledge import function as signature_of_function
from devicelint.knowledge import tensor_method as signature_of

_SAVE = "torch.autograd.function.FunctionCtx.save_for_backward"


class Awaited(Notes):
    """What the next backward pass will call, with what it will give."""

    def __init__(self) -> None:
        self.calls: dict[tuple[object, object], tuple[Value, Arguments, cst.Call]] = {}


def await_backward(run: Run, called: Value, arguments: Arguments, site: cst.Call) -> None:
    """Let the next backward pass call something."""
    run.notes(Awaited).calls[site, called] = (called, arguments, site)


def _run_backward(run: Run) -> None:
    """Call what the backward pass calls; it may be walked again, and then calls it again."""
    awaited = run.notes(Awaited)
    waiting, awaited.calls = awaited.calls, {}
    for called, arguments, site in waiting.values():
        run.call(called, arguments, site)


@tensor_method("backward")
def backward_of(
    run: Run, receiver: Value, name: str, arguments: Arguments, node: cst.Call
) -> Value:
    """`loss.backward()`."""
    assert isinstance(node.func, cst.Attribute)
    signature = signature_of(name)
    given = [Argument(node.func.value, receiver), *arguments.positional]
    if signature is not None:
        apply_signature(run, signature, Arguments(given, arguments.keywords), node, name=name)
    _run_backward(run)
    return NONE


@function("torch.autograd.backward")
def backward(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """The same, of several tensors."""
    signature = signature_of_function(name)
    if signature is not None:
        apply_signature(run, signature, arguments, site, name=name)
    _run_backward(run)
    return NONE


def gradient_of(value: Value) -> Value:
    """A gradient lies where its tensor does; what is no tensor has none."""
    match value:
        case Tensor():
            return Tensor(value.device, value.since, value.scalar, False, least=value.least)
        case Tuple(items):
            return Tuple(tuple(map(gradient_of, items)))
        case Unknown():
            return Unknown("a gradient of something unknown")
        case _:
            return Unknown("the gradient of what may be no tensor")


def gradients_of(value: Value) -> tuple[Value, ...]:
    """The gradients of what a call gives: one for each of several outputs."""
    outputs = value.items if isinstance(value, Tuple) else (value,)
    return tuple(map(gradient_of, outputs))


@tensor_method("register_hook")
def register_hook(
    run: Run, receiver: Value, name: str, arguments: Arguments, node: cst.Call
) -> Value:
    """The next backward pass calls the hook with the gradient."""
    hook = arguments.get(0, "hook")
    if hook is not None and is_called_here(hook.value):
        given = Arguments([Argument(node, gradient_of(receiver))])
        await_backward(run, hook.value, given, node)
    return Unknown("a handle of a hook")


@tensor_method("register_post_accumulate_grad_hook")
def register_late_hook(
    run: Run, receiver: Value, name: str, arguments: Arguments, node: cst.Call
) -> Value:
    """The next backward pass calls the hook with the tensor itself."""
    hook = arguments.get(0, "hook")
    if hook is not None and is_called_here(hook.value):
        await_backward(run, hook.value, Arguments([Argument(node, receiver)]), node)
    return Unknown("a handle of a hook")


def is_called_here(value: Value) -> bool:
    """Whether calling a value walks code of the program."""
    return isinstance(value, (Function, Bound, Partial, Instance))


@function("torch.autograd.Function.apply", "torch.autograd.function.Function.apply")
def applied(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """`Scale.apply(x)` calls the `forward` of the class, with a context first, or without one."""
    cls = arguments.positional[0].value if arguments.positional else None
    forward = class_member(run, cls, "forward") if isinstance(cls, Class) else None
    if not isinstance(cls, Class) or not isinstance(forward, Function):
        return Unknown(f"{name} of an unknown class")
    context = _context(run, site)
    inputs = arguments.positional[1:]
    prepare = class_member(run, cls, "setup_context")
    given = inputs if isinstance(prepare, Function) else [context, *inputs]
    result = call_function(run, forward, Arguments(given, {}, arguments.open), site)
    if isinstance(prepare, Function):
        taken = Argument(site, Tuple(tuple(one.value for one in inputs)))
        call_function(run, prepare, Arguments([context, taken, Argument(site, result)]), site)
    last = class_member(run, cls, "backward")
    if isinstance(last, Function) and not run.no_grad:
        grads = [Argument(site, one) for one in gradients_of(result)]
        await_backward(run, last, Arguments([context, *grads]), site)
    return result


def _context(run: Run, site: cst.Call) -> Argument:
    """What `forward` leaves things in for `backward`."""
    made = Instance(run.allocate(site, "context"), "torch.autograd.function.FunctionCtx")
    run.state.write(made.ref, "save_for_backward", Partial(ImportedName(_SAVE), (made,)))
    return Argument(site, made)


@function(_SAVE)
def save_for_backward(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """`ctx.save_for_backward(x)`: what `ctx.saved_tensors` gives later."""
    given = [one.value for one in arguments.positional]
    context = given[0] if given else None
    if not isinstance(context, Instance):
        return NONE
    known = None if arguments.open else Tuple(tuple(given[1:]))
    run.state.write(context.ref, "saved_tensors", known or Unknown("what was saved for backward"))
    return NONE

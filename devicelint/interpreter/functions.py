"""Functions of the file: defined, called with what they are given, walked on their own."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.devices import DeviceOf, Unsure
from devicelint.domain.history import Step, Verb
from devicelint.domain.join import join_known
from devicelint.domain.state import DEVICE_FIELD
from devicelint.domain.values import (
    NONE,
    Batch,
    Bound,
    Const,
    DeviceHandle,
    DictOf,
    External,
    Function,
    Module,
    Moved,
    Outside,
    Partial,
    Stream,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.arguments import Argument, Arguments
from devicelint.interpreter.containers import ELEMENT, key_field
from devicelint.interpreter.flow import NO_GRAD
from devicelint.interpreter.frame import Frame
from devicelint.interpreter.indices import declare_parameter
from devicelint.interpreter.run import Run, calls
from devicelint.interpreter.truth import asks_for_device

_DEEPEST = 12
_MOST_INTERPRETATIONS = 12
_MOST_OBJECTS = 60
"""How often an `__init__` is walked: an object that was not made so knows nothing of itself."""

_KINDS = {
    "builtins.staticmethod": "static",
    "builtins.classmethod": "class",
    "builtins.property": "property",
    "functools.cached_property": "property",
}


def define_function(run: Run, node: cst.FunctionDef) -> Function:
    """The value of a `def`; decorators that change what is called are taken into account."""
    frame = run.frame
    frame.keeps_names = True
    owner = frame.ref if isinstance(frame.node, cst.ClassDef) else None
    kind, no_grad, guarded = "", False, frame.guarded
    for decorator in node.decorators:
        named = decorator.decorator
        guarded = guarded or asks_for_device(named)
        called = named.func if isinstance(named, cst.Call) else named
        value = run.evaluate(called) if isinstance(called, (cst.Name, cst.Attribute)) else None
        name = value.name if isinstance(value, External) else ""
        kind = _KINDS.get(name, kind)
        no_grad = no_grad or name in NO_GRAD
        if isinstance(called, cst.Attribute) and called.attr.value in ("setter", "deleter"):
            kind = "setter"
    scopes = frame.enclosing_functions()
    function = Function(node, node.name.value, frame.ref, scopes, owner, kind, no_grad, guarded)
    run.pending.append((function, frame))
    return function


@calls(Function)
def call_plain(run: Run, callee: Function, arguments: Arguments, site: cst.Call) -> Value:
    return call_function(run, callee, arguments, site)


@calls(Bound)
def call_bound(run: Run, callee: Bound, arguments: Arguments, site: cst.Call) -> Value:
    if isinstance(callee.function, Function):
        return call_function(run, callee.function, arguments, site, receiver=callee.receiver)
    return run.call(callee.function, arguments, site)


@calls(Partial)
def call_partial(run: Run, callee: Partial, arguments: Arguments, site: cst.Call) -> Value:
    sites = iter(callee.sites)
    given = [Argument(next(sites, site), value) for value in callee.args]
    named = {name: Argument(next(sites, site), value) for name, value in callee.keywords}
    merged = Arguments(
        [*given, *arguments.positional], {**named, **arguments.keywords}, arguments.open
    )
    return run.call(callee.function, merged, site)


def call_function(
    run: Run,
    function: Function,
    arguments: Arguments,
    site: cst.BaseExpression | None,
    *,
    receiver: Value | None = None,
    module: Module | None = None,
) -> Value:
    """Walk a function's body with the arguments it gets.

    `site` is the call; a decorator stands for one; None where Python itself calls.
    """
    node = function.node
    assert isinstance(node, (cst.FunctionDef, cst.Lambda))
    key = (node, receiver, _place_of(run, receiver), *arguments.values())
    if not _may_enter(run, node):
        if key in run.remembered:
            return run.remembered[key]
        return Unknown(f"{function.name} is called too deep or too often")
    if site is not None:
        run.entered.add(node)
    frame = Frame(
        run.allocate(site or node, function.name),
        node,
        function.scopes,
        caller=run.frame,
        site=site if isinstance(site, cst.Call) else None,
        module=module,
        receiver=receiver,
        owner=function.owner,
        depth=run.frame.depth + 1,
    )
    first = receiver if function.kind != "static" else None
    _bind_parameters(run, frame, node.params, arguments, first)
    result = _walk(run, frame, function)
    if _is_plain(result):
        run.remembered[key] = result
    return result


def _is_plain(value: Value) -> bool:
    """Whether a value is all there is to it: nothing of it lies in the state."""
    if isinstance(value, Tuple):
        return all(map(_is_plain, value.items))
    return isinstance(value, (Tensor, DeviceHandle, Const))


def _place_of(run: Run, receiver: Value | None) -> Value | None:
    """Where a Module is: its methods give something else when it has moved."""
    return run.state.read(receiver.ref, DEVICE_FIELD) if isinstance(receiver, Module) else None


def _may_enter(run: Run, node: cst.FunctionDef | cst.Lambda) -> bool:
    frame: Frame | None = run.frame
    if run.frame.depth >= _DEEPEST:
        return False
    while frame is not None:
        if frame.node is node:
            return False
        frame = frame.caller
    run.interpretations[node] = run.interpretations.get(node, 0) + 1
    is_init = isinstance(node, cst.FunctionDef) and node.name.value == "__init__"
    return run.interpretations[node] <= (_MOST_OBJECTS if is_init else _MOST_INTERPRETATIONS)


def _walk(run: Run, frame: Frame, function: Function) -> Value:
    node = frame.node
    outer, run.frame = run.frame, frame
    run.no_grad += function.no_grad
    run.assumptions += function.guarded
    if isinstance(node, cst.Lambda):
        result = run.evaluate(node.body)
    else:
        assert isinstance(node, cst.FunctionDef)
        run.execute_block(node.body)
        result = _leave(run, frame)
    _walk_unentered(run, frame)
    run.no_grad -= function.no_grad
    run.assumptions -= frame.assumed + function.guarded
    run.frame = outer
    frame.left_with = run.state.fields(frame.ref)
    if not frame.keeps_names:
        run.state.drop(frame.ref)
    return result


def _leave(run: Run, frame: Frame) -> Value:
    """Join what the paths that return hold, and what they return."""
    result: Value | None = None if run.state.dead else NONE
    for value, state in frame.returns:
        joined = value if result is None else join_known(result, value)
        if result is not None and frame.separated_by is not None:
            run.separate(frame.separated_by, result, value, joined)
        result = joined
        run.merge(state, None)
    if frame.yields:
        run.state.dead = False
        element = frame.yields[0]
        for value in frame.yields[1:]:
            element = join_known(element, value)
        return Stream(element)
    return Unknown("a call that does not return") if result is None else result


def _walk_unentered(run: Run, frame: Frame) -> None:
    """Functions defined here that nobody called: callbacks, whose arguments come from outside.

    One that is returned may still be called by the caller.
    """
    returned = [value for value, _ in frame.returns]
    mine = [function for function, definer in run.pending if definer is frame]
    if not mine or run.state.dead:
        return
    run.pending = [entry for entry in run.pending if entry[1] is not frame]
    for function in mine:
        if function.node in run.entered:
            continue
        if frame.caller is not None and function in returned:
            run.pending.append((function, frame.caller))
        else:
            walk_alone(run, function)


def walk_alone(run: Run, function: Function, receiver: Value | None = None) -> None:
    """Walk a function with arguments of the caller's choice, and undo what it did."""
    before, outer = run.state.fork(), run.frame
    assumptions, no_grad = run.assumptions, run.no_grad
    call_function(run, function, Arguments(open=True), None, receiver=receiver)
    run.state, run.frame = before, outer
    run.assumptions, run.no_grad = assumptions, no_grad


def _bind_parameters(
    run: Run,
    frame: Frame,
    parameters: cst.Parameters,
    arguments: Arguments,
    receiver: Value | None,
) -> None:
    positional = [*parameters.posonly_params, *parameters.params]
    given = list(arguments.positional)
    if receiver is not None and positional:
        run.state.write(frame.ref, positional[0].name.value, receiver)
        positional = positional[1:]
    elif receiver is not None:
        given.insert(0, Argument(frame.node, receiver))
    keywords = dict(arguments.keywords)
    for index, parameter in enumerate(positional):
        name = parameter.name.value
        argument = given[index] if index < len(given) else keywords.pop(name, None)
        _bind(run, frame, parameter, argument, arguments)
    for parameter in parameters.kwonly_params:
        argument = keywords.pop(parameter.name.value, None)
        _bind(run, frame, parameter, argument, arguments)
    _bind_rest(run, frame, parameters, given[len(positional) :], keywords, arguments.open)


def _bind(
    run: Run, frame: Frame, parameter: cst.Param, argument: Argument | None, arguments: Arguments
) -> None:
    name = parameter.name.value
    if argument is None:
        if parameter.default is not None and not arguments.open:
            value = offered(run, parameter.default)
        else:
            value = _from_outside(run, name, parameter)
    else:
        value = argument.value
        if isinstance(value, Unknown):
            value = Outside(name, name)
        elif isinstance(value, (Tensor, Batch, Moved)) and not isinstance(value.device, Unsure):
            frame.passed[value.since] = argument.site
    run.state.write(frame.ref, name, value)


def offered(run: Run, node: cst.BaseExpression) -> Value:
    """The default of a parameter or of a field, which a caller may decline: no hard choice."""
    run.assumptions += 1
    value = run.evaluate(node)
    run.assumptions -= 1
    return value


def _from_outside(run: Run, name: str, parameter: cst.Param) -> Value:
    """What a caller gives: anything, or a tensor where the annotation says so."""
    since = Step(Verb.RECEIVED, parameter, DeviceOf(name))
    declare_parameter(run, name, parameter)
    if parameter.default is None and _is_annotated_tensor(run, parameter.annotation):
        return Tensor(DeviceOf(name), since)
    return Outside(name, name, since)


def _is_annotated_tensor(run: Run, annotation: cst.Annotation | None) -> bool:
    named = None if annotation is None else annotation.annotation
    if not isinstance(named, (cst.Name, cst.Attribute)):
        return False
    return run.evaluate(named) == External("torch.Tensor")


def _bind_rest(
    run: Run,
    frame: Frame,
    parameters: cst.Parameters,
    rest: list[Argument],
    keywords: dict[str, Argument],
    is_open: bool,
) -> None:
    star = parameters.star_arg
    if isinstance(star, cst.Param):
        value: Value = (
            Unknown("arguments of the caller's choice")
            if is_open
            else Tuple(tuple(argument.value for argument in rest))
        )
        run.state.write(frame.ref, star.name.value, value)
        for argument in rest:
            if isinstance(argument.value, (Tensor, Batch, Moved)):
                frame.passed[argument.value.since] = argument.site
    for argument in keywords.values() if parameters.star_kwarg is not None else ():
        if isinstance(argument.value, (Tensor, Batch, Moved)):
            frame.passed[argument.value.since] = argument.site
    if parameters.star_kwarg is not None:
        ref = run.allocate(parameters.star_kwarg, frame.node.__class__.__name__)
        for name, argument in keywords.items():
            run.state.write(ref, key_field(Const(name)), argument.value)
        if is_open:
            run.state.write(ref, ELEMENT, Unknown("a keyword of the caller's choice"))
        run.state.write(
            frame.ref, parameters.star_kwarg.name.value, DictOf(ref, parameters.star_kwarg)
        )

"""The parameters of a function: what each is given by a call, or by whoever will call."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice

import libcst as cst

from devicelint.domain.devices import CPU, DeviceOf, Known, Unsure
from devicelint.domain.history import Site, Step, Verb
from devicelint.domain.state import DEVICE_FIELD
from devicelint.domain.values import (
    Batch,
    Const,
    DictOf,
    Instance,
    ListOf,
    Placed,
    Stream,
    Symbolic,
    Tensor,
    TensorDict,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.annotations import is_annotated_tensor
from devicelint.interpreter.facts.tensor_parameters import (
    as_proven,
    declare_tensor,
    declare_tensors,
    prove,
)
from devicelint.interpreter.python.containers.fields import ELEMENT, key_field
from devicelint.interpreter.python.unseen import taken_for_tensor


def bind_parameters(
    run: Run,
    frame: Frame,
    parameters: cst.Parameters,
    arguments: Arguments,
    receiver: Value | None,
) -> None:
    """Write the arguments of a call into the frame that it enters."""
    positional = [*parameters.posonly_params, *parameters.params]
    if isinstance(frame.node, cst.FunctionDef) and arguments.open:
        declare_tensors(run, frame.node)
    given = list(arguments.positional)
    if receiver is not None:
        _bind_receiver(run, frame, receiver, positional, given)
        if not frame.is_checked and frame.site is not None:
            _note_made_for_it(run, frame, receiver, frame.site)
    keywords = dict(arguments.keywords)
    for index, parameter in enumerate(positional):
        name = parameter.name.value
        argument = given[index] if index < len(given) else keywords.pop(name, None)
        _bind(run, frame, parameter, argument, arguments)
    for parameter in parameters.kwonly_params:
        argument = keywords.pop(parameter.name.value, None)
        _bind(run, frame, parameter, argument, arguments)
    if isinstance(parameters.star_arg, cst.Param) or parameters.star_kwarg is not None:
        rest = replace(arguments, positional=given[len(positional) :], keywords=keywords)
        _bind_rest(run, frame, parameters, rest)


def lacks_argument(parameters: cst.Parameters, arguments: Arguments, *, has_receiver: bool) -> bool:
    """Whether a call leaves out what has no default: Python raises TypeError, and walks nothing."""
    if arguments.open or arguments.uncounted:
        return False
    positional = [*parameters.posonly_params, *parameters.params]
    left = positional[len(arguments.positional) + has_receiver :]
    return any(
        one.default is None and one.name.value not in arguments.keywords
        for one in (*left, *parameters.kwonly_params)
    )


def _bind_receiver(
    run: Run, frame: Frame, receiver: Value, positional: list[cst.Param], given: list[Argument]
) -> None:
    """The first parameter gets the receiver; where there is none, `*args` does."""
    if positional:
        run.state.write(frame.ref, positional.pop(0).name.value, receiver)
    else:
        given.insert(0, Argument(frame.node, receiver))


def _bind(
    run: Run, frame: Frame, parameter: cst.Param, argument: Argument | None, arguments: Arguments
) -> None:
    name = parameter.name.value
    if argument is None:
        if parameter.default is not None and not arguments.open:
            value = _default(run, frame, parameter.default)
            run.steps.defaulted(frame, parameter, value, arguments)
        else:
            value = _from_outside(run, name, parameter)
    else:
        value = argument.value
        if isinstance(value, Symbolic) and value.since is not None:
            value = _seen_as_declared(run, parameter, value)
        if isinstance(value, Unknown):
            value = _unseen_as_declared(run, parameter, arguments, value)
        elif isinstance(value, (Tensor, Batch, Placed)) and not isinstance(value.device, Unsure):
            _note_passed(frame, argument)
        elif isinstance(value, TensorDict):
            _note_bundle_passed(run, frame, value, argument.site)
        elif isinstance(value, (Stream, Tuple, DictOf)) and _is_named(run, frame, argument):
            _note_parts_passed(run, frame, value, argument.site)
        if not frame.is_checked:
            _note_made_for_it(run, frame, value, argument.site)
    run.state.write(frame.ref, name, run.guesses.parameter(run, parameter, value))


def _default(run: Run, frame: Frame, node: cst.BaseExpression) -> Value:
    """The default of a parameter, with the names of the file and function in which it stands."""
    outer = run.frame
    if frame.home != outer.home or frame.scopes:
        run.frame = frame
    value = offered(run, node)
    run.frame = outer
    return value


def _note_passed(frame: Frame, argument: Argument) -> None:
    """Where a caller could move what it passes; what is sent cannot be moved before."""
    value = argument.value
    if isinstance(value, (Tensor, Batch, Placed)) and value.since.verb is not Verb.SENT:
        frame.passed[value.since] = argument.site


def _note_bundle_passed(run: Run, frame: Frame, bundle: TensorDict, site: Site) -> None:
    """`model(data)`: what an object of a library holds is moved with it."""
    place = run.state.read(bundle.ref, DEVICE_FIELD)
    if isinstance(place, Placed) and not isinstance(place.device, Unsure):
        frame.passed.setdefault(place.since, site)


def _is_named(run: Run, frame: Frame, argument: Argument) -> bool:
    """Whether an argument is a variable of the caller, which can be given another value."""
    site, caller = argument.site, frame.caller
    if not isinstance(site, cst.Name) or caller is None:
        return False
    return run.state.read(caller.ref, site.value) == argument.value


def _note_made_for_it(run: Run, frame: Frame, value: Value, site: Site, depth: int = 3) -> None:
    """What the checked file makes on the CPU, and hands to another one inside of something."""
    match value:
        case Tensor(device=device) if device == CPU and value.since.verb is Verb.CREATED:
            if value.since.site in run.made_in:
                frame.passed.setdefault(value.since, site)
        case Tuple() | Stream() | ListOf() | DictOf() | Instance() if depth:
            for one in islice(_held_in(run, value), _MOST_PARTS):
                _note_made_for_it(run, frame, one, site, depth - 1)


def _held_in(run: Run, value: Tuple | Stream | ListOf | DictOf | Instance) -> Iterable[Value]:
    match value:
        case Tuple(items):
            return items
        case Stream(element):
            return (element,)
        case _:
            return tuple(run.state.fields(value.ref).values())


_MOST_PARTS = 20


def _note_parts_passed(run: Run, frame: Frame, value: Value, site: Site) -> None:
    """A batch that is passed whole is moved whole: a sequence of images, a dict of targets."""
    match value:
        case Tensor() | Batch() if value.since.verb is Verb.LOADED:
            frame.passed.setdefault(value.since, site)
        case Stream(element):
            _note_parts_passed(run, frame, element, site)
        case Tuple(items):
            for one in items:
                _note_parts_passed(run, frame, one, site)
        case DictOf(ref):
            for one in tuple(run.state.fields(ref).values()):
                _note_parts_passed(run, frame, one, site)
        case _:
            pass


def _seen_as_declared(run: Run, parameter: cst.Param, value: Symbolic) -> Value:
    """What comes from further outside: a tensor, where a parameter on its way says so."""
    if is_annotated_tensor(run, parameter):
        prove(run, value.origin)
    return as_proven(run, value)


def _unseen_as_declared(
    run: Run, parameter: cst.Param, arguments: Arguments, value: Unknown
) -> Value:
    """What the caller does not see either: a tensor, where the function says so."""
    name = parameter.name.value
    if value.symbol is None or any(_is_placed(one.value) for one in arguments):
        return Symbolic(name, name)
    return taken_for_tensor(run, value) if is_annotated_tensor(run, parameter) else value


def _is_placed(value: Value) -> bool:
    """Whether a tensor's place is known: what is given with it is most likely there, too."""
    return isinstance(value, (Tensor, Batch, Placed)) and isinstance(value.device, Known)


def offered(run: Run, node: cst.BaseExpression) -> Value:
    """The default of a parameter or of a field, which a caller may decline: no hard choice."""
    run.assumptions += 1
    value = run.evaluate(node)
    run.assumptions -= 1
    return value


def _from_outside(run: Run, name: str, parameter: cst.Param) -> Value:
    """What a caller gives: anything, or a tensor where that is proven."""
    since = Step(Verb.RECEIVED, parameter, DeviceOf(name))
    run.steps.parameter(name, parameter)
    declare_tensor(run, name, parameter)
    return as_proven(run, Symbolic(name, name, since))


def _bind_rest(run: Run, frame: Frame, parameters: cst.Parameters, rest: Arguments) -> None:
    if isinstance(parameters.star_arg, cst.Param):
        _bind_positional_rest(run, frame, parameters.star_arg, rest)
    if parameters.star_kwarg is not None:
        _bind_keyword_rest(run, frame, parameters.star_kwarg, rest)


def _bind_positional_rest(run: Run, frame: Frame, star: cst.Param, rest: Arguments) -> None:
    """`*args` gets what is given in order and has no parameter of its own."""
    value: Value = (
        Unknown("arguments of the caller's choice")
        if rest.open
        else Tuple(tuple(argument.value for argument in rest.positional))
    )
    run.state.write(frame.ref, star.name.value, value)
    for argument in rest.positional:
        _note_passed(frame, argument)


def _bind_keyword_rest(run: Run, frame: Frame, star: cst.Param, rest: Arguments) -> None:
    """`**kwargs` gets what is given by a name that no parameter has."""
    ref = run.allocate(star, frame.node.__class__.__name__)
    for name, argument in rest.keywords.items():
        _note_passed(frame, argument)
        run.state.write(ref, key_field(Const(name)), argument.value)
    if rest.may_name:
        run.state.write(ref, ELEMENT, Unknown("a keyword of the caller's choice"))
    run.state.write(frame.ref, star.name.value, DictOf(ref, star))

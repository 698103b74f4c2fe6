"""Calls: who is called, with what."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.devices import may_be_accelerator
from devicelint.domain.events import LoadUse
from devicelint.domain.join import join_known
from devicelint.domain.values import (
    ARRAY,
    HOST,
    NONE,
    Array,
    Batch,
    Bundle,
    Const,
    Deviceless,
    DictOf,
    Function,
    HostValue,
    ListOf,
    Loaded,
    Module,
    OneOf,
    Outside,
    Parameters,
    Stream,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import calls, evaluates, methods
from devicelint.interpreter.libraries.bundles import spread
from devicelint.interpreter.python.attributes import module_device, read_attribute
from devicelint.interpreter.python.containers import (
    ELEMENT,
    element_of,
    extend,
    forget_order,
    item,
    key_field,
    known_elements,
    pop,
)
from devicelint.interpreter.torch.checkpoints import note_arguments, note_key, note_use
from devicelint.interpreter.torch.legacy_names import typed
from devicelint.interpreter.torch.modules.escapes import let_go, let_go_of_given, may_move
from devicelint.interpreter.torch.optimizers import hand_over, use_optimizer
from devicelint.interpreter.torch.transfers import TRANSFERS, move_deviceless, move_unknown


@evaluates(cst.Call)
def call(run: Run, node: cst.Call) -> Value:
    """A method of a value is asked of the value; anything else is evaluated and called."""
    module = run.guesses.callee(run, node.func)
    if module is not None:
        return run.call(module, arguments_of(run, node), node)
    return run.guesses.result(run, node, _called(run, node))


def _called(run: Run, node: cst.Call) -> Value:
    func = node.func
    if type(func) is cst.Attribute:
        receiver = run.evaluate(func.value)
        method = methods.get(type(receiver))
        if method is not None:
            result = method(run, receiver, func.attr.value, node)
            if isinstance(receiver, Outside) and isinstance(result, Unknown):
                let_go_of_given(run, node)
            return result
        callee = read_attribute(run, receiver, func.attr.value, func)
        if isinstance(callee, Unknown):
            let_go(run, arguments_of(run, node), node)
            if func.attr.value in TRANSFERS:
                return move_unknown(run, receiver, func.attr.value, node)
            if func.attr.value == "type" and (made := typed(run, node)):
                return made
            if func.attr.value == "parameters" and not node.args:
                return Parameters(receiver, func.value)
            return Unknown(f"the result of .{func.attr.value}()")
    else:
        callee = run.evaluate(func)
    arguments = arguments_of(run, node)
    result = run.call(callee, arguments, node)
    if isinstance(result, Unknown) and may_move(callee):
        let_go(run, arguments, node)
    return result


def arguments_of(run: Run, node: cst.Call) -> Arguments:
    """The arguments of a call, each evaluated once, in order."""
    arguments = Arguments()
    for argument in node.args:
        value = run.evaluate(argument.value)
        if argument.star == "*":
            _spread(run, arguments, value, argument.value)
        elif argument.star == "**":
            _spread_keywords(run, arguments, value, argument.value)
        elif argument.keyword is not None:
            arguments.keywords[argument.keyword.value] = Argument(argument.value, value)
        else:
            arguments.positional.append(Argument(argument.value, value))
        if isinstance(value, Deviceless):
            hand_over(run, value, node)
    if type(node.func) is cst.Attribute:
        note_arguments(run, node.func.attr.value, arguments)
    return arguments


def _spread(run: Run, arguments: Arguments, value: Value, site: cst.BaseExpression) -> None:
    elements = known_elements(run, value)
    if elements is None:
        arguments.open = True
        arguments.positional.append(Argument(site, element_of(run, value, site)))
    else:
        arguments.positional.extend(Argument(site, element) for element in elements)


def _spread_keywords(
    run: Run, arguments: Arguments, value: Value, site: cst.BaseExpression
) -> None:
    if not isinstance(value, DictOf):
        arguments.open = True
        if isinstance(value, Bundle):
            spread(run, arguments, value, site)
        elif isinstance(value, Batch):
            arguments.spread.append(Argument(site, value))
        return
    for field, element in run.state.fields(value.ref).items():
        if field.startswith("['"):
            arguments.keywords[field[2:-2]] = Argument(site, element)
        elif field == ELEMENT:
            arguments.open = True
            arguments.spread.append(Argument(site, element))


@calls(OneOf)
def call_one_of(run: Run, callee: OneOf, arguments: Arguments, site: cst.Call) -> Value:
    if any(isinstance(one, Function) for one in callee.options):
        return _call_either(run, callee.options, arguments, site)
    places = {module_device(run, one).device for one in callee.options if isinstance(one, Module)}
    run.device_choices += len(places) > 1
    results = [run.call(option, arguments, site) for option in callee.options]
    run.device_choices -= len(places) > 1
    joined = results[0]
    for result in results[1:]:
        joined = join_known(joined, result)
    return joined


def _call_either(
    run: Run, functions: tuple[Value, ...], arguments: Arguments, site: cst.Call
) -> Value:
    """One of several functions is called: what it does holds on its path alone."""
    before, merged, joined = run.state, None, None
    for function in functions:
        run.state = before.fork()
        result = run.call(function, arguments, site)
        joined = result if joined is None else join_known(joined, result)
        if merged is not None:
            run.state.merge(merged)
        merged = run.state
    assert joined is not None
    return joined


@methods(OneOf)
def method_of_one_of(run: Run, receiver: OneOf, name: str, node: cst.Call) -> Value:
    joined: Value | None = None
    for option in receiver.options:
        method = methods.get(type(option))
        result: Value = (
            Unknown("a method of one of several")
            if method is None
            else method(run, option, name, node)
        )
        joined = result if joined is None else join_known(joined, result)
    assert joined is not None
    return receiver if joined in receiver.options else joined


@methods(Deviceless)
def method_of_deviceless(run: Run, receiver: Deviceless, name: str, node: cst.Call) -> Value:
    arguments = arguments_of(run, node)
    if name in TRANSFERS:
        return move_deviceless(run, receiver, receiver.kind, name, node, arguments)
    use_optimizer(run, receiver, name, node)
    return Unknown(f"{receiver.kind}.{name}()")


@methods(Loaded)
def method_of_loaded(run: Run, receiver: Loaded, name: str, node: cst.Call) -> Value:
    if name in TRANSFERS:
        return move_unknown(run, receiver, name, node)
    arguments = arguments_of(run, node)
    if name in _SHOWS_MODEL:
        note_use(run, receiver, LoadUse.MODEL)
    if name in ("get", "pop") and arguments.positional:
        note_key(run, receiver, arguments.positional[0].value)
    kept = name in ("get", "pop", "eval", "train", "float", "half", "items", "values", "copy")
    return receiver if kept else Unknown(f"a method of something loaded: {name}")


_SHOWS_MODEL = frozenset({"eval", "parameters", "named_parameters", "state_dict", "train"})


@calls(Loaded)
def call_loaded(run: Run, callee: Loaded, arguments: Arguments, site: cst.Call) -> Value:
    """A model: it answers where what it is given is, as they have to lie together."""
    note_use(run, callee, LoadUse.MODEL)
    value = arguments.positional[0].value if arguments.positional else None
    if isinstance(value, (Tensor, Batch)) and may_be_accelerator(value.device):
        return Batch(value.device, value.since)
    return Unknown("calling something loaded")


@methods(ListOf)
def method_of_list(run: Run, receiver: ListOf, name: str, node: cst.Call) -> Value:
    arguments = arguments_of(run, node)
    given = arguments.positional
    if name in ("append", "add") and given:
        extend(run, receiver.ref, given[0].value)
    elif name in ("extend", "update") and given:
        elements = known_elements(run, given[0].value)
        for element in elements or (element_of(run, given[0].value, given[0].site),):
            extend(run, receiver.ref, element)
    elif name == "insert" and len(given) > 1:
        forget_order(run, receiver.ref)
        extend(run, receiver.ref, given[1].value)
    elif name in ("pop", "popleft"):
        return pop(run, receiver, last=name == "pop" and not given)
    elif name in ("remove", "sort", "reverse", "appendleft"):
        forget_order(run, receiver.ref)
        if name == "appendleft" and given:
            extend(run, receiver.ref, given[0].value)
    elif name == "copy":
        return receiver
    elif name == "clear":
        run.state.reset(receiver.ref)
    return HOST


@methods(DictOf)
def method_of_dict(run: Run, receiver: DictOf, name: str, node: cst.Call) -> Value:
    arguments = arguments_of(run, node)
    given = arguments.positional
    fields = run.state.fields(receiver.ref)
    values = [v for n, v in fields.items() if n == ELEMENT or n.startswith("[")]
    element: Value = values[0] if values else Unknown("an element of an empty dict")
    for value in values[1:]:
        element = join_known(element, value)
    match name:
        case "values":
            return Stream(element)
        case "items":
            return Stream(Tuple((HOST, element)))
        case "keys":
            return Stream(HOST)
        case "get" | "pop" | "setdefault" if given:
            return _item_or_default(run, receiver, name, given)
        case "update":
            return _update_dict(run, receiver, arguments)
        case "copy":
            return receiver
        case _:
            return Unknown(f"dict.{name}()")


def _item_or_default(run: Run, receiver: DictOf, name: str, given: list[Argument]) -> Value:
    """`d.get(key, default)` and its kin: the default where the key is not there for sure."""
    field = key_field(given[0].value)
    fields = run.state.fields(receiver.ref)
    if field in fields or (field == ELEMENT and len(given) == 1):
        return item(run, receiver.ref, given[0].value)
    default = given[1].value if len(given) > 1 else NONE
    if name == "setdefault":
        run.state.write(receiver.ref, field, default)
    held = any(one == ELEMENT or (field == ELEMENT and one.startswith("[")) for one in fields)
    return join_known(item(run, receiver.ref, given[0].value), default) if held else default


def _update_dict(run: Run, receiver: DictOf, arguments: Arguments) -> Value:
    for argument in arguments.positional:
        if isinstance(argument.value, DictOf):
            for field, value in tuple(run.state.fields(argument.value.ref).items()):
                run.state.write(receiver.ref, field, value)
        else:
            run.state.write(receiver.ref, ELEMENT, Unknown("updated from something unknown"))
    for name, argument in arguments.keywords.items():
        run.state.write(receiver.ref, f"[{name!r}]", argument.value)
    return HOST


@methods(Array)
def method_of_array(run: Run, receiver: Array, name: str, node: cst.Call) -> Value:
    arguments_of(run, node)
    return HOST if name in ("item", "tolist") else ARRAY


@methods(HostValue, Const)
def method_of_host(run: Run, receiver: HostValue | Const, name: str, node: cst.Call) -> Value:
    arguments = arguments_of(run, node)
    if name == "format":
        for argument in arguments:
            run.steps.read(argument, node)
    return HOST


@calls(Outside)
def call_outside(run: Run, callee: Outside, arguments: Arguments, site: cst.Call) -> Value:
    answer = run.guesses.called(run, callee, arguments, site)
    return answer or Unknown(f"the result of {callee.origin}()")

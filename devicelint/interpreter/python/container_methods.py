"""Methods of lists, dicts, arrays, and of what Python itself holds."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.join import join_known
from devicelint.domain.values import (
    ARRAY,
    HOST,
    NONE,
    Array,
    Const,
    DictOf,
    HostValue,
    ListOf,
    Stream,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import methods
from devicelint.interpreter.python.calls import arguments_of
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
from devicelint.interpreter.python.stdlib.paths import put_together


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
    return put_together((receiver, *(argument.value for argument in arguments)))

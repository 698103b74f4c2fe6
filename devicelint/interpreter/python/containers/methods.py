"""Methods of lists, dicts, arrays, and of what Python itself holds."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from devicelint.domain.values import (
    HOST,
    NONE,
    Const,
    DeviceHandle,
    HostValue,
    ListOf,
    Tuple,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import methods
from devicelint.interpreter.python.attributes import read_attribute
from devicelint.interpreter.python.calls import arguments_of
from devicelint.interpreter.python.containers.contents import element_of, extend, new_list
from devicelint.interpreter.python.containers.dictionaries import new_dict
from devicelint.interpreter.python.containers.fields import LENGTH, key_field
from devicelint.interpreter.python.containers.lists import extend_by, insert, pop, reorder
from devicelint.interpreter.python.containers.mixtures import note_put
from devicelint.interpreter.python.containers.texts import numbered_device, worked_out
from devicelint.interpreter.python.stdlib.paths import formatted, joined, made_of


@methods(ListOf)
def method_of_list(run: Run, receiver: ListOf, name: str, node: cst.Call) -> Value:
    arguments = arguments_of(run, node)
    given = arguments.positional
    match name:
        case "append" | "add" if given:
            note_put(run, receiver, given[0].value, node)
            extend(run, receiver.ref, given[0].value)
        case "extend" | "update" if given:
            extend_by(run, receiver, given[0].value, given[0].site)
        case "insert" if len(given) > 1:
            insert(run, receiver, given[0].value, given[1].value)
        case "appendleft" if given:
            insert(run, receiver, Const(0), given[0].value)
        case "pop" | "popleft":
            first = Const(0) if name == "popleft" else Const(-1)
            return pop(run, receiver, given[0].value if given else first)
        case "reverse" | "remove" | "sort" | "discard" | "rotate":
            reorder(run, receiver, reverse=name == "reverse")
        case "clear":
            run.state.reset(receiver.ref)
            run.state.write(receiver.ref, LENGTH, Const(0))
        case _:
            return _from_list(run, receiver, name, given, node)
    return NONE


def _from_list(
    run: Run, receiver: ListOf, name: str, given: list[Argument], node: cst.Call
) -> Value:
    if name == "copy":
        return _copied(run, receiver, node)
    return _united(run, receiver, given, node) if name in _OF_SETS else HOST


_OF_SETS = frozenset({"union", "intersection", "difference", "symmetric_difference"})


def _copied(run: Run, value: ListOf, site: cst.Call) -> Value:
    """Another list of the same elements."""
    held = tuple(run.state.fields(value.ref).items())
    made = ListOf(run.allocate(site, f"copy of {value.ref}"), site)
    for name, one in held:
        run.state.write(made.ref, name, one)
    return made


def _united(run: Run, receiver: ListOf, others: list[Argument], site: cst.Call) -> Value:
    """Another set, with elements of all of them."""
    parts = [
        element_of(run, receiver, site),
        *(element_of(run, one.value, one.site) for one in others),
    ]
    made = new_list(run, site, parts)
    run.state.write(made.ref, LENGTH, HOST)
    return made


@methods(Tuple)
def method_of_tuple(run: Run, receiver: Tuple, name: str, node: cst.Call) -> Value:
    """A tuple's own methods, those of one with names, or what it holds and is called."""
    assert isinstance(node.func, cst.Attribute)
    arguments = arguments_of(run, node)
    pairs = zip(receiver.names, receiver.items, strict=False)
    if name == "_replace" and receiver.names:
        given = arguments.keywords
        items = (given[key].value if key in given else one for key, one in pairs)
        return Tuple(tuple(items), receiver.names)
    if name == "_asdict" and receiver.names:
        return new_dict(run, node, [(key_field(Const(key)), one) for key, one in pairs])
    if name in ("index", "count"):
        return HOST
    return run.call(read_attribute(run, receiver, name, node.func), arguments, node)


@methods(HostValue, Const)
def method_of_host(run: Run, receiver: HostValue | Const, name: str, node: cst.Call) -> Value:
    arguments = arguments_of(run, node)
    if name == "format":
        for argument in arguments:
            run.steps.read(argument, node)
        if (named := _device_with(run, receiver, arguments, node)) is not None:
            return named
    if not (arguments.keywords or arguments.open):
        known = worked_out(receiver, name, [one.value for one in arguments.positional])
        if known is not None:
            return known
    given = (receiver, *(argument.value for argument in arguments))
    return _METHODS.get(name, made_of)(given)


def _device_with(
    run: Run, template: Value, arguments: Arguments, node: cst.Call
) -> DeviceHandle | None:
    """`"cuda:{}".format(args.gpu)` names a device, as far as the number is not known."""
    given = arguments.positional[0].value if len(arguments.positional) == 1 else None
    if given is None or isinstance(given, Const) or arguments.keywords:
        return None
    named = numbered_device(template, node)
    if named is not None:
        run.steps.index_used(given)
    return named


_METHODS: dict[str, Callable[[tuple[Value, ...]], Value]] = {
    "format": lambda given: formatted(given[0], given[1:]),
    "joinpath": joined,
    "resolve": joined,
    "absolute": joined,
    "expanduser": joined,
}
"""The methods of texts and paths that say how what they give is called."""

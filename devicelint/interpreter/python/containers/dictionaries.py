"""Dicts: their methods, and what becomes of two of them."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.history import Site
from devicelint.domain.join import join, join_known
from devicelint.domain.values import (
    HOST,
    NONE,
    Const,
    DictOf,
    Function,
    ImportedName,
    Stream,
    Symbolic,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import function, methods, operates
from devicelint.interpreter.python.calls import arguments_of
from devicelint.interpreter.python.containers.contents import (
    element_in,
    element_of,
    item,
    known_elements,
    known_entries,
    new_list,
    streamed,
)
from devicelint.interpreter.python.containers.fields import (
    ELEMENT,
    FACTORY,
    is_key_field,
    key_field,
    mark_shared,
    open_settings,
)
from devicelint.interpreter.python.containers.registries import kept_by_others
from devicelint.interpreter.python.functions import call_function


@methods(DictOf)
def method_of_dict(run: Run, receiver: DictOf, name: str, node: cst.Call) -> Value:
    arguments = arguments_of(run, node)
    given = arguments.positional
    match name:
        case "values" | "items" | "keys":
            return _view(run, receiver, name)
        case "get" | "pop" | "setdefault" if given:
            return _item_or_default(run, receiver, name, given)
        case "popitem":
            return Tuple((HOST, element_in(run, run.state.fields(receiver.ref))))
        case "update":
            for argument in given:
                put_all(run, receiver, argument.value, argument.site)
            for key, argument in arguments.keywords.items():
                run.state.write(receiver.ref, key_field(Const(key)), argument.value)
            return NONE
        case "copy":
            return merged(run, node, (receiver, node))
        case "clear":
            run.state.reset(receiver.ref)
            return NONE
        case "move_to_end":
            return NONE
        case _:
            return Unknown(f"dict.{name}()")


@methods(Stream)
def method_of_elements(run: Run, receiver: Stream, name: str, node: cst.Call) -> Value:
    """A method of what holds tensors and is none: of a mapping, where it has one of its views."""
    arguments_of(run, node)
    match name:
        case "keys":
            return HOST
        case "values":
            return receiver
        case "items":
            return Stream(Tuple((HOST, receiver.element)))
        case "get" | "pop":
            return receiver.element
        case _:
            return Unknown(f".{name}() of something to iterate over")


def _view(run: Run, receiver: DictOf, name: str) -> Value:
    """`d.values()`, `d.items()`, `d.keys()`: one by one, where all keys are known."""
    entries = known_entries(run, receiver)
    if entries:
        if name == "keys":
            return streamed(run, tuple(key for key, _ in entries))
        if name == "values":
            return streamed(run, tuple(held for _, held in entries))
        return streamed(run, tuple(Tuple(entry) for entry in entries))
    held = element_in(run, run.state.fields(receiver.ref))
    return Stream({"keys": HOST, "values": held, "items": Tuple((HOST, held))}[name])


def _item_or_default(run: Run, receiver: DictOf, name: str, given: list[Argument]) -> Value:
    """`d.get(key, default)` and its kin: the default where the key is not there for sure."""
    field = key_field(given[0].value)
    kept = kept_by_others(run, receiver, given[0].value)
    if kept is not None:
        return kept
    fields = run.state.fields(receiver.ref)
    if field in fields or (field == ELEMENT and len(given) == 1):
        value = item(run, receiver.ref, given[0].value)
        if name == "pop" and field != ELEMENT:
            run.state.delete(receiver.ref, field)
        return value
    default = given[1].value if len(given) > 1 else NONE
    if name == "setdefault":
        run.state.write(receiver.ref, field, default)
    held = any(one == ELEMENT or (field == ELEMENT and one.startswith("[")) for one in fields)
    return join_known(item(run, receiver.ref, given[0].value), default) if held else default


def put_all(run: Run, target: DictOf, given: Value, site: Site) -> None:
    """Put all that a dict, or pairs, hold into a dict."""
    _write_all(run, target, fields_given(run, given, site))


def fields_given(run: Run, given: Value, site: Site) -> list[tuple[str, Value]]:
    """What is put into a dict: under one field for all keys, where these are not known."""
    fields = fields_of(run, given)
    if fields is not None:
        return fields
    element = element_of(run, given, site)
    pair = element.items if isinstance(element, Tuple) else ()
    return [(ELEMENT, pair[1] if len(pair) == 2 else Unknown("put there from something unknown"))]


def _write_all(run: Run, target: DictOf, fields: list[tuple[str, Value]]) -> None:
    for name, value in fields:
        if name == ELEMENT and isinstance(value, Unknown):
            open_settings(run, target.ref)
        before = run.state.read(target.ref, name) if name == ELEMENT else None
        run.state.write(target.ref, name, value if before is None else join_known(before, value))


def fields_of(run: Run, value: Value) -> list[tuple[str, Value]] | None:
    """What a dict, or a sequence of pairs, gives a new dict; None where a key is not known."""
    if isinstance(value, DictOf):
        held = run.state.fields(value.ref).items()
        return [(name, one) for name, one in held if name == ELEMENT or is_key_field(name)]
    fields: dict[str, Value] = {}
    pairs = known_elements(run, value)
    if pairs is None:
        return None
    for pair in pairs:
        if not (isinstance(pair, Tuple) and len(pair.items) == 2):
            return None
        name = key_field(pair.items[0])
        joined = join(fields.get(name), pair.items[1]) if name == ELEMENT else pair.items[1]
        assert joined is not None
        fields[name] = joined
    return list(fields.items())


def merged(run: Run, site: cst.CSTNode, *parts: tuple[Value, Site]) -> DictOf:
    """A new dict of what others hold, where the last wins: `{**a, **b}`, `a | b`, `a.copy()`."""
    fields = [one for value, place in parts for one in fields_given(run, value, place)]
    return new_dict(run, site, fields, "merged")


def new_dict(
    run: Run, site: cst.CSTNode, fields: list[tuple[str, Value]], what: str = ""
) -> DictOf:
    """A dict of what lies in these fields, the last of one name."""
    made = DictOf(run.allocate(site, what), site)
    _write_all(run, made, fields)
    return made


@function("builtins.dict", "collections.OrderedDict")
def dict_(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    given = arguments.positional[0] if arguments.positional else None
    if given is not None and isinstance(given.value, (Unknown, Symbolic)):
        return Unknown("a dict of something unknown")
    made = merged(run, site, *([] if given is None else [(given.value, given.site)]))
    for key, argument in arguments.keywords.items():
        run.state.write(made.ref, key_field(Const(key)), argument.value)
    for spread in arguments.spread:
        put_all(run, made, Tuple((Tuple((HOST, spread.value)),)), spread.site)
    return made


@function("collections.defaultdict")
def default_dict(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """A dict that makes what is asked for under a new key."""
    made = merged(run, site, *((one.value, one.site) for one in arguments.positional[1:]))
    if arguments.positional:
        run.state.write(made.ref, FACTORY, arguments.positional[0].value)
    return made


@function("collections.Counter")
def counter(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """Numbers, whatever is counted."""
    made = DictOf(run.allocate(site), site)
    run.state.write(made.ref, ELEMENT, HOST)
    return made


@function("builtins.dict.fromkeys")
def from_keys(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """One value under each key."""
    if not arguments.positional:
        return Unknown("a dict of nothing")
    keys, *given = (one.value for one in arguments.positional)
    value = given[0] if given else NONE
    made = DictOf(run.allocate(site), site)
    for key in known_elements(run, keys) or (HOST,):
        run.state.write(made.ref, key_field(key), value)
    return made


@operates(DictOf)
def united(run: Run, node: cst.CSTNode, symbol: str, left: Argument, right: Argument) -> Value:
    """`a | b`: what both hold, and of one key what the second has."""
    if symbol != "|":
        return Unknown(f"operands of {symbol} are not understood")
    return merged(run, node, (left.value, left.site), (right.value, right.site))


def made_for_key(run: Run, value: DictOf, key: Value, node: cst.Subscript) -> None:
    """What a `defaultdict` makes under a key that it does not have yet."""
    factory = run.state.read(value.ref, FACTORY)
    name = key_field(key)
    if factory is None or run.state.read(value.ref, name) is not None:
        return
    if name == ELEMENT and known_entries(run, value):
        return
    made = made_by(run, factory, node, "for a key")
    if name == ELEMENT:
        mark_shared(run, made)
    run.state.write(value.ref, name, made)


def made_by(run: Run, factory: Value, node: cst.CSTNode, what: str) -> Value:
    """What calling a factory gives: a new object for each `what`."""
    match factory:
        case ImportedName("builtins.list" | "builtins.set" | "collections.deque"):
            return new_list(run, node, (), what)
        case ImportedName("builtins.dict" | "collections.OrderedDict"):
            return new_dict(run, node, [], what)
        case ImportedName("builtins.int" | "builtins.float" | "builtins.str" | "builtins.bool"):
            return HOST
        case Function():
            return call_function(run, factory, Arguments(), None)
        case _:
            return Unknown(f"made {what}")

"""Classes that get their `__init__` from the fields that they annotate, and plain namespaces."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devicelint.domain.values import (
    TRUE,
    Class,
    Const,
    DictOf,
    Function,
    ImportedName,
    Instance,
    Module,
    Partial,
    Symbolic,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.objects import CLASS_FIELD, class_member, order_of_bases
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import function
from devicelint.interpreter.python.containers.dictionaries import made_by, new_dict
from devicelint.interpreter.python.containers.fields import PARTS, key_field, name_of_field
from devicelint.interpreter.python.functions import call_function

_BASES = frozenset({"typing.NamedTuple", "typing.TypedDict", "pydantic.BaseModel"})
_DECORATORS = ("dataclass", "define", "attrs", "frozen")
_FACTORY = ImportedName("the factory of a field")
"""What stands for `field(default_factory=…)` in the body of a class."""
_WITHOUT_DEFAULT = Unknown("a field that has no default")


def is_record(run: Run, cls: Class) -> bool:
    """Whether a class, or a base of it, says that its `__init__` follows from its fields."""
    return any(declares_record(run, one) for one in order_of_bases(cls))


def declares_record(run: Run, cls: Class) -> bool:
    """Whether a class says itself that its `__init__` follows from the fields that it annotates."""
    assert isinstance(cls.node, cst.ClassDef)
    if any(isinstance(base, ImportedName) and base.name in _BASES for base in cls.bases):
        return True
    named = [run.code_of(one.decorator).partition("(")[0] for one in cls.node.decorators]
    return any(name.rpartition(".")[2] in _DECORATORS for name in named)


def fill_record(run: Run, cls: Class, made: Module | Instance, arguments: Arguments) -> None:
    """What the `__init__` of a record does, and its `__post_init__`."""
    assert isinstance(cls.node, cst.ClassDef)
    names = tuple(dict.fromkeys(_names(cls)))
    for position, name in enumerate(names):
        given = arguments.get(position, name)
        default = class_member(run, cls, name)
        if given is not None:
            run.state.write(made.ref, name, given.value)
        elif arguments.open:
            run.state.write(made.ref, name, Symbolic(f"{cls.name}.{name}"))
        elif isinstance(default, Partial) and default.function == _FACTORY:
            one = made_by(run, default.args[0], cls.node, f"for {name} of {made.ref}")
            run.state.write(made.ref, name, one)
    if _is_sequence(cls):
        run.state.write(made.ref, PARTS, Tuple(tuple(map(Const, names))))
    _post_init(run, cls, made)


def _post_init(run: Run, cls: Class, made: Module | Instance) -> None:
    method = class_member(run, cls, "__post_init__")
    if isinstance(method, Function):
        call_function(run, method, Arguments(open=True, may_name=True), None, receiver=made)
        run.entered.add(method.node)


def _is_sequence(cls: Class) -> bool:
    if any(isinstance(one, ImportedName) and one.name == "typing.NamedTuple" for one in cls.bases):
        return True
    return any(isinstance(base, Class) and _is_sequence(base) for base in cls.bases)


def _names(cls: Class) -> Iterator[str]:
    """The annotated names of a record, those of its bases first."""
    for base in cls.bases:
        if isinstance(base, Class):
            yield from _names(base)
    assert isinstance(cls.node, cst.ClassDef)
    for line in cls.node.body.body:
        for statement in line.body if isinstance(line, cst.SimpleStatementLine) else ():
            if isinstance(statement, cst.AnnAssign) and isinstance(statement.target, cst.Name):
                yield statement.target.value


@function(*"dataclasses.field attr.ib attr.attrib attr.field attrs.field".split())
def field(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """A field of a record: its default, or what makes one for each object."""
    for keyword in ("default_factory", "factory"):
        if keyword in arguments.keywords:
            return Partial(_FACTORY, (arguments.keywords[keyword].value,))
    given = arguments.keywords.get("default")
    return _WITHOUT_DEFAULT if given is None else given.value


def _held(run: Run, value: Value) -> tuple[tuple[str, Value], ...] | None:
    """The fields of a record with what they hold; None of another value."""
    cls = run.state.read(value.ref, CLASS_FIELD) if isinstance(value, (Instance, Module)) else None
    if not isinstance(value, (Instance, Module)) or not isinstance(cls, Class):
        return None
    names = tuple(dict.fromkeys(_names(cls)))
    held = [run.state.read(value.ref, name) or class_member(run, cls, name) for name in names]
    return tuple((name, one) for name, one in zip(names, held, strict=True) if one is not None)


@function("dataclasses.replace", "copy.replace", "attr.evolve", "attrs.evolve")
def replace_fields(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """Another object, with what the first one holds and some fields replaced."""
    given = arguments.positional[0].value if arguments.positional else None
    return Unknown(name) if given is None else with_fields(run, given, arguments, site)


def with_fields(run: Run, value: Value, arguments: Arguments, site: cst.Call) -> Value:
    """A record that holds what another does, but for the fields that are named."""
    held = _held(run, value)
    if held is None or not isinstance(value, Instance):
        return Unknown("a copy of what is no record")
    made = Instance(run.allocate(site, f"like {value.ref}"), value.name)
    for field_name, one in tuple(run.state.fields(value.ref).items()):
        run.state.write(made.ref, field_name, one)
    for field_name, _ in held:
        if arguments.open:
            run.state.write(made.ref, field_name, Symbolic(f"{value.name}.{field_name}"))
    for keyword, argument in arguments.keywords.items():
        run.state.write(made.ref, keyword, argument.value)
    cls = run.state.read(made.ref, CLASS_FIELD)
    if isinstance(cls, Class):
        _post_init(run, cls, made)
    return made


@function("dataclasses.asdict", "attr.asdict", "attrs.asdict")
def as_dict(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """The fields of a record as a dictionary."""
    held = _held(run, arguments.positional[0].value) if arguments.positional else None
    if held is None:
        return Unknown(name)
    return new_dict(run, site, [(key_field(Const(key)), one) for key, one in held])


@function("dataclasses.astuple", "attr.astuple", "attrs.astuple")
def as_tuple(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """The fields of a record, in order."""
    held = _held(run, arguments.positional[0].value) if arguments.positional else None
    return Unknown(name) if held is None else Tuple(tuple(one for _, one in held))


@function("dataclasses.fields", "attr.fields", "attrs.fields")
def fields_of_record(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """The fields of a record themselves, each with its name."""
    given = arguments.positional[0].value if arguments.positional else None
    if isinstance(given, Class):
        names = tuple(dict.fromkeys(_names(given)))
    else:
        held = None if given is None else _held(run, given)
        if held is None:
            return Unknown(name)
        names = tuple(one for one, _ in held)
    return Tuple(tuple(_field_named(run, one, site) for one in names))


def _field_named(run: Run, name: str, site: cst.Call) -> Instance:
    made = Instance(run.allocate(site, f"field {name}"), "dataclasses.Field")
    run.state.write(made.ref, "name", Const(name))
    run.state.write(made.ref, "init", TRUE)
    return made


@function("dataclasses.is_dataclass", "attr.has", "attrs.has")
def is_dataclass(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """Whether an object has such fields."""
    given = arguments.positional[0].value if arguments.positional else None
    cls = run.state.read(given.ref, CLASS_FIELD) if isinstance(given, Instance) else given
    if isinstance(cls, Class):
        return Const(is_record(run, cls) and not _is_sequence(cls))
    return Unknown(name)


@function("types.SimpleNamespace", "argparse.Namespace")
def namespace(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """An object that holds what it is given, under the names that are written."""
    made = Instance(run.allocate(site), name)
    for argument in arguments.positional[:1]:
        if isinstance(argument.value, DictOf):
            _take_over(run, made, argument)
    for keyword, argument in arguments.keywords.items():
        run.state.write(made.ref, keyword, argument.value)
    return made


def _take_over(run: Run, made: Instance, given: Argument) -> None:
    assert isinstance(given.value, DictOf)
    for name, value in tuple(run.state.fields(given.value.ref).items()):
        key = name_of_field(name)
        if key is not None:
            run.state.write(made.ref, key, value)

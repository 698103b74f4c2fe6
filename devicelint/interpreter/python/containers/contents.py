"""Lists, dicts and streams: what they hold and what iterating over them gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from devicelint.domain.alternatives import is_mixed, one_object_of
from devicelint.domain.history import Site, Verb
from devicelint.domain.values import (
    HOST,
    Array,
    Batch,
    Class,
    Const,
    Dataset,
    DictOf,
    HostValue,
    ImportedName,
    Instance,
    ListOf,
    Loader,
    Module,
    OneOf,
    Parameters,
    Ref,
    Stream,
    Symbolic,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.cases import each, use
from devicelint.interpreter.engine.objects import CLASS_FIELD, order_of_bases
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.steps import Notes
from devicelint.interpreter.engine.tables import elements
from devicelint.interpreter.python.containers.fields import (
    ELEMENT,
    GROWN,
    LENGTH,
    PARTS,
    is_key_field,
    is_shared,
    key_field,
    key_of_field,
    mark_shared,
    parts_in,
)
from devicelint.interpreter.python.containers.registries import fill_registry

_TOLD_APART = 16
"""How many elements of a list are kept apart."""


def extend(run: Run, ref: Ref, value: Value) -> None:
    """Add an element to a list."""
    if run.frame.repeats:
        mark_shared(run, value)
    state = run.state
    length = None if is_shared(run, ref) else length_of(run, ref)
    state.write(ref, ELEMENT, join_held(run, state.read(ref, ELEMENT), value))
    if length is not None and length < _TOLD_APART:
        state.write(ref, f"[{length}]", value)
        state.write(ref, LENGTH, Const(length + 1))


def length_of(run: Run, ref: Ref) -> int | None:
    length = run.state.read(ref, LENGTH)
    if length is None:
        fields = run.state.fields(ref)
        return None if ELEMENT in fields or any(name[0] == "[" for name in fields) else 0
    return length.value if isinstance(length, Const) and isinstance(length.value, int) else None


def item(run: Run, ref: Ref, key: Value) -> Value:
    """What lies under a key of a container."""
    field = key_field(key)
    fill_registry(run, ref, field)
    fields = run.state.fields(ref)
    if field in fields:
        return fields[field]
    if isinstance(key, Const) and isinstance(key.value, int) and key.value < 0:
        length = length_of(run, ref)
        if length is not None and f"[{length + key.value}]" in fields:
            return fields[f"[{length + key.value}]"]
    return element_in(run, fields)


def element_in(run: Run, fields: Mapping[str, Value]) -> Value:
    """All elements of a container, joined."""
    held = parts_in(fields)
    return joined_elements(run, held) if held else Unknown("an element of an empty container")


def known_elements(run: Run, value: Value) -> tuple[Value, ...] | None:
    """The elements one by one, where their number is known."""
    if isinstance(value, Tuple):
        return value.items
    if isinstance(value, Stream):
        return value.parts or None
    if isinstance(value, DictOf):
        entries = known_entries(run, value)
        return None if entries is None else tuple(key for key, _ in entries)
    if isinstance(value, Instance):
        return _parts_of_tuple(run, value)
    if isinstance(value, (ListOf, Module)):
        length = length_of(run, value.ref)
        fields = run.state.fields(value.ref)
        if length is not None and all(f"[{i}]" in fields for i in range(length)):
            return tuple(fields[f"[{i}]"] for i in range(length))
    return None


def _parts_of_tuple(run: Run, value: Instance) -> tuple[Value, ...] | None:
    """What an object holds that is a tuple with names: a `NamedTuple` of the file."""
    names, fields = run.state.read(value.ref, PARTS), run.state.fields(value.ref)
    if not isinstance(names, Tuple):
        return None
    held = [fields.get(str(one.value)) for one in names.items if isinstance(one, Const)]
    return tuple(one or Unknown("a part of a tuple") for one in held)


class Counted(Notes):
    """How often the length of a list or dict has decided on something."""

    def __init__(self) -> None:
        self.times = 0

    def fork(self) -> Counted:
        """Counts go on alike wherever the walk is."""
        return self


def is_counted(run: Run, value: Value) -> bool:
    """Whether the elements that are known are all that there are, each standing for one."""
    if not isinstance(value, (ListOf, DictOf)):
        return True
    return run.state.read(value.ref, GROWN) is None and not is_shared(run, value.ref)


def known_entries(run: Run, value: DictOf) -> tuple[tuple[Const | Tuple, Value], ...] | None:
    """The keys and values of a dict, where all keys are known."""
    fields = run.state.fields(value.ref)
    if ELEMENT in fields:
        return None
    named = [(name, held) for name, held in fields.items() if is_key_field(name)]
    return tuple((key_of_field(name), held) for name, held in named)


def streamed(run: Run, elements: tuple[Value, ...]) -> Stream:
    """What yields these, in order."""
    return Stream(joined_elements(run, elements), bool(elements), elements)


def new_list(run: Run, site: Site, elements: Iterable[Value], what: str = "") -> ListOf:
    """A list of these elements."""
    made = ListOf(run.allocate(site, what), site)
    count = 0
    for one in elements:
        extend(run, made.ref, one)
        count += 1
    run.state.write(made.ref, LENGTH, Const(count) if count <= _TOLD_APART else HOST)
    return made


def parts_of(run: Run, value: Value) -> tuple[Value, ...]:
    """What a sequence or a dict holds: one value for all parts, where they have no number."""
    if isinstance(value, DictOf):
        fields = run.state.fields(value.ref)
        return tuple(held for name, held in fields.items() if name == ELEMENT or name[0] == "[")
    return known_elements(run, value) or (element_of(run, value, None),)


def is_filled(run: Run, value: Value) -> bool:
    """Whether iterating over a value gives at least one element: loaders and datasets do."""
    if isinstance(value, Stream):
        return value.filled
    if isinstance(value, ListOf) and "[0]" in run.state.fields(value.ref):
        return True
    if isinstance(value, Parameters):
        return isinstance(value.module, Module)
    if isinstance(value, Instance) and _is_dataset(run.state.read(value.ref, CLASS_FIELD)):
        return True
    return isinstance(value, (Loader, Dataset)) or bool(known_elements(run, value))


def _is_dataset(cls: Value | None) -> bool:
    if not isinstance(cls, Class):
        return False
    bases = (base for one in order_of_bases(cls) for base in one.bases)
    return any(isinstance(base, ImportedName) and base.name in _DATASETS for base in bases)


_DATASETS = ("torch.utils.data.Dataset", "torch.utils.data.IterableDataset")


def element_of(run: Run, value: Value, site: Site) -> Value:
    """What iterating over a value gives, all elements joined; `site` is where it is iterated."""
    if isinstance(value, OneOf) and is_mixed(value):
        return each(run, value, lambda one: element_of(run, one, site))
    use(run, value)
    handler = elements.get(type(value))
    if handler is None:
        return Unknown(f"an element of {_named(value)}")
    return handler(run, value, site)


def _named(value: Value) -> str:
    if isinstance(value, Symbolic):
        return value.origin
    return value.name if isinstance(value, ImportedName) else "something unknown"


@elements(Stream)
def _element_of_stream(run: Run, value: Stream, site: Site) -> Value:
    return value.element


@elements(Tuple)
def _element_of_tuple(run: Run, value: Tuple, site: Site) -> Value:
    return joined_elements(run, value.items)


@elements(ListOf)
def _element_of_list(run: Run, value: ListOf, site: Site) -> Value:
    return element_in(run, run.state.fields(value.ref))


@elements(DictOf)
def _element_of_dict(run: Run, value: DictOf, site: Site) -> Value:
    keys = known_elements(run, value)
    return keys[0] if keys is not None and len(keys) == 1 else HOST


@elements(HostValue, Const)
def _element_of_host(run: Run, value: Value, site: Site) -> Value:
    return HOST


@elements(Array)
def _element_of_array(run: Run, value: Array, site: Site) -> Value:
    return value


def joined_elements(run: Run, items: Iterable[Value], depth: int = 0) -> Value:
    """One value for all elements."""
    joined: Value | None = None
    for one in items:
        joined = join_held(run, joined, one, depth)
    return Unknown("an element of an empty tuple") if joined is None else joined


_DEEPEST = 3
"""How deep two containers in containers are joined; one may hold itself."""


def join_held(run: Run, one: Value | None, other: Value, depth: int = 0) -> Value:
    """`join` of two elements; two containers come to one that holds what either does."""
    if one is None or one == other:
        return other if one is None else one
    if depth < _DEEPEST and isinstance(one, (ListOf, DictOf)) and type(one) is type(other):
        return _either(run, one, other, depth + 1)
    return one_object_of(one, other)


def _either(run: Run, one: ListOf | DictOf, other: ListOf | DictOf, depth: int) -> Value:
    held = [dict(run.state.fields(ref)) for ref in (one.ref, other.ref)]
    if isinstance(one, ListOf):
        parts = [part for fields in held for part in parts_in(fields)]
        fields = {ELEMENT: joined_elements(run, parts, depth), LENGTH: HOST}
    else:
        fields = held[0]
        for name, value in held[1].items():
            fields[name] = join_held(run, fields.get(name), value, depth)
    made = replace(one, ref=run.allocate(one.site, f"{one.ref} or {other.ref}"))
    for name, value in fields.items():
        run.state.write(made.ref, name, value)
    return made


def loaded_at(value: Value, site: Site, *, pinned: bool = False) -> Value:
    """The same batch, as it comes out of the loader at this place."""
    match value:
        case Tensor() | Batch() if value.since.verb is Verb.LOADED:
            pins = pinned or value.since.pinned
            return replace(value, since=replace(value.since, site=site, pinned=pins))
        case Tuple(items):
            return Tuple(tuple(loaded_at(one, site, pinned=pinned) for one in items))
        case Stream(element, parts=parts):
            held = tuple(loaded_at(one, site, pinned=pinned) for one in parts)
            return replace(value, element=loaded_at(element, site, pinned=pinned), parts=held)
        case _:
            return value

"""What the state keeps of objects: their classes, what these define, and where modules are."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from devicelint.domain.devices import CPU, Unsure
from devicelint.domain.history import Site, Verb
from devicelint.domain.state import DEVICE_FIELD
from devicelint.domain.values import (
    TRUE,
    Class,
    ImportedName,
    Instance,
    Module,
    OneOf,
    Placed,
    Ref,
    Symbolic,
    Tensor,
    TensorDict,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.run import Run
from devicelint.knowledge import ModuleKind, kind_of, module_class

CLASS_FIELD = "@class"
MACHINE, CURRENT = "@machine", "current"
"""Where lies which accelerator is current, once the program has made one so."""

OPEN_FIELD = "@open"
"""Of an object for which a class is walked alone: it may be of any class that derives from it."""

TORCH_FIELD = "@torch"
"""The class of torch whose parameters a Module of a derived class has."""


def member_of(run: Run, ref: int | str, name: str) -> Value | None:
    """What the class of an object says of a name."""
    cls = run.state.read(ref, CLASS_FIELD)
    return class_member(run, cls, name) if isinstance(cls, Class) else None


def class_member(run: Run, cls: Class, name: str) -> Value | None:
    """A member of a class or of its bases in the file."""
    if not cls.bases:
        return run.state.read(cls.ref, name)
    found = run.state.find([one.ref for one in order_of_bases(cls)], name)
    return None if found is None else found[1]


def order_of_bases(cls: Class) -> tuple[Class, ...]:
    """A class and its bases in the file, in the order in which Python looks through them."""
    if not cls.bases:
        return (cls,)
    known = _orders.get(id(cls))
    if known is None:
        if len(_orders) >= _MOST_ORDERS:
            _orders.clear()
        known = _orders[id(cls)] = _order_of_bases(cls)
    return known


_orders: dict[int, tuple[Class, ...]] = {}
"""By the identity of the class, which stands first and is kept alive by that: to hash one takes
as long as to find its order."""
_MOST_ORDERS = 2_000


def _order_of_bases(cls: Class) -> tuple[Class, ...]:
    bases = [base for base in cls.bases if isinstance(base, Class)]
    if len(bases) == 1:
        return (cls, *order_of_bases(bases[0]))
    waiting = [*(list(order_of_bases(base)) for base in bases), bases]
    found = [cls]
    while any(waiting):
        heads = [one[0] for one in waiting if one]
        first = next((one for one in heads if not _stands_behind(one, waiting)), heads[0])
        found.append(first)
        waiting = [[one for one in each if one != first] for each in waiting]
    return tuple(found)


def _stands_behind(cls: Class, waiting: list[list[Class]]) -> bool:
    """Whether another class has to come first."""
    return any(cls in each[1:] for each in waiting)


def setter_of(name: str) -> str:
    """The field of a class in which the setter of a property lies."""
    return f"@setter:{name}"


def module_device(run: Run, module: Module) -> Placed:
    """Where a module is, and since when.

    One that was built here and not moved has no tensors but those that it was given, or that a
    base brings which is not seen.
    """
    place = run.state.read(module.ref, DEVICE_FIELD)
    if not isinstance(place, Placed):
        return Placed(Unsure(f"the device of {module.name} is not known"), module.since)
    if not _is_as_built(place):
        return place
    is_unclear = _may_bring_tensors(run, module)
    if not is_unclear and _makes_its_own(run, module):
        return place
    others: list[Placed] = []
    for one in _parts(run, module, {module.ref}):
        if one.device == CPU:
            return place
        others.append(one)
    if is_unclear and not others:
        return Placed(Unsure("what it was made from"), module.since)
    known = [one for one in others if not isinstance(one.device, Unsure)]
    return next(iter([*known, *others]), place)


def _is_as_built(place: Placed) -> bool:
    return place.device == CPU and place.since.verb is Verb.BUILT


def _makes_its_own(run: Run, module: Module) -> bool:
    """Whether a class that is not seen may have made tensors for a module: torch's Linear."""
    cls = run.state.read(module.ref, CLASS_FIELD)
    if not isinstance(cls, Class):
        return not _is_without_tensors(module.name)
    bases = (base for one in order_of_bases(cls) for base in one.bases)
    return not all(isinstance(base, Class) or _is_empty(base) for base in bases)


def _may_bring_tensors(run: Run, module: Module) -> bool:
    """Whether a base of a class is not known, or a distribution, which keeps what it is given."""
    cls = run.state.read(module.ref, CLASS_FIELD)
    if not isinstance(cls, Class):
        return False
    bases = [base for one in order_of_bases(cls) for base in one.bases]
    named = (base.name for base in bases if isinstance(base, ImportedName))
    return any(isinstance(base, Unknown) for base in bases) or "distribution" in map(kind_of, named)


def _is_empty(base: Value) -> bool:
    if not isinstance(base, ImportedName):
        return False
    if base.name.partition(".")[0] in sys.stdlib_module_names:
        return True
    return kind_of(base.name) in _WITHOUT_PARTS or _holds_parts_alone(base.name)


_WITHOUT_PARTS = ("module", "distribution")
"""What kinds of classes register nothing by themselves."""


def _is_without_tensors(name: str) -> bool:
    """Whether a class of torch makes no tensors: ReLU, a container, a loss without weights."""
    knowledge = module_class(name)
    if knowledge is None or knowledge.owns_tensors:
        return False
    return knowledge.kind is not ModuleKind.WRAPPER


def _holds_parts_alone(name: str) -> bool:
    knowledge = module_class(name)
    return knowledge is not None and knowledge.kind is ModuleKind.CONTAINER


def _parts(run: Run, module: Module, seen: set[Ref]) -> Iterator[Placed]:
    """Where the tensors and modules are that a Module registered, as far as it is known."""
    for name, value in run.state.fields(module.ref).items():
        if not name.startswith("@"):
            yield from _places(run, module, value, seen)


def _places(run: Run, module: Module, value: Value, seen: set[Ref]) -> Iterator[Placed]:
    match value:
        case OneOf(options):
            held = [one for part in options for one in _places(run, module, part, seen)]
            is_sure = len({one.device for one in held}) < 2
            yield from held if is_sure else (Placed(Unsure("it is one of several"), module.since),)
        case Tensor(role="parameter" | "buffer"):
            yield Placed(value.device, value.since)
        case Module():
            if value.ref not in seen:
                yield from _of_part(run, value, seen | {value.ref})
        case Symbolic() | Unknown():
            yield Placed(Unsure("it holds what comes from outside"), module.since)
        case _:
            pass


def _of_part(run: Run, part: Module, seen: set[Ref]) -> Iterator[Placed]:
    place = run.state.read(part.ref, DEVICE_FIELD)
    if not isinstance(place, Placed):
        yield Placed(Unsure(f"the device of {part.name} is not known"), part.since)
    elif not _is_as_built(place) or _makes_its_own(run, part):
        yield place
    else:
        yield from _parts(run, part, seen)


def fresh(run: Run, bundle: TensorDict, site: Site) -> TensorDict:
    """Another one like it: what a loader yields is a new object each time."""
    held = tuple(run.state.fields(bundle.ref).items())
    made = TensorDict(run.allocate(site, "fresh bundle"), bundle.name)
    for name, value in held:
        run.state.write(made.ref, name, value)
    return made


def registered_under(run: Run, module: Module, name: str) -> Value | None:
    """What a Module keeps under a name; what a ModuleDict holds has that name, too."""
    held = run.state.read(module.ref, name)
    return run.state.read(module.ref, f"[{name!r}]") if held is None else held


def is_seen_to_have(run: Run, owner: Instance | Module, name: str) -> bool:
    """Whether an object, or its class, is seen to have an attribute."""
    held = run.state.read(owner.ref, name)
    if held is None and isinstance(owner, Module):
        held = registered_under(run, owner, name)
    return held is not None or member_of(run, owner.ref, name) is not None


TENSORS = "@tensors"
"""The parameters and buffers of a Module that were registered under names nobody knows."""
_ELEMENT = "@element"


def under_some_name(run: Run, ref: int | str) -> Value | None:
    """What an object was given under names that are not known, where that is of one kind."""
    fields = run.state.fields(ref)
    held = [fields[name] for name in (_ELEMENT, TENSORS) if name in fields]
    return held[0] if len(held) == 1 else None


_BUFFER = "@buffer:"


def note_buffer(run: Run, module: Module, name: str) -> None:
    """From now on a name stands for a buffer, whatever tensor is assigned to it."""
    run.state.write(module.ref, f"{_BUFFER}{name}", TRUE)


def names_buffer(run: Run, module: Module, name: str) -> bool:
    """Whether a name of a Module was given to `register_buffer`, with None perhaps."""
    return run.state.read(module.ref, f"{_BUFFER}{name}") is not None


def parts_of_moved(value: Placed) -> Ref:
    """Under what lies what something of an unknown kind was given since it was moved."""
    return f"@moved:{id(value.since.site)}"

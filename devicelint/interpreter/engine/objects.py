"""What the state keeps of objects: their classes, what these define, and where modules are."""

from __future__ import annotations

from devicelint.domain.devices import Unsure
from devicelint.domain.history import Site
from devicelint.domain.state import DEVICE_FIELD
from devicelint.domain.values import (
    TRUE,
    Class,
    Module,
    Placed,
    Ref,
    TensorDict,
    Value,
)
from devicelint.interpreter.engine.run import Run

CLASS_FIELD = "@class"
MACHINE, CURRENT = "@machine", "current"
"""Where lies which accelerator is current, once the program has made one so."""

TORCH_FIELD = "@torch"
"""The class of torch whose parameters a Module of a derived class has."""


def member_of(run: Run, ref: int | str, name: str) -> Value | None:
    """What the class of an object says of a name."""
    cls = run.state.read(ref, CLASS_FIELD)
    return class_member(run, cls, name) if isinstance(cls, Class) else None


def class_member(run: Run, cls: Class, name: str) -> Value | None:
    """A member of a class or of its bases in the file."""
    found = run.state.read(cls.ref, name)
    if found is not None or not cls.bases:
        return found
    held = (run.state.read(base.ref, name) for base in order_of_bases(cls)[1:])
    return next((one for one in held if one is not None), None)


def order_of_bases(cls: Class) -> tuple[Class, ...]:
    """A class and its bases in the file, in the order in which Python looks through them."""
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
    """Where a module is, and since when."""
    place = run.state.read(module.ref, DEVICE_FIELD)
    if isinstance(place, Placed):
        return place
    return Placed(Unsure(f"the device of {module.name} is not known"), module.since)


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

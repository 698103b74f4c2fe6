"""Which parts of a program choose the machine that they run on: the others take it as it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from devicelint.domain.devices import DEVICE_TYPES
from devicelint.domain.history import Site
from devicelint.domain.values import Class, Const, DeviceHandle, Flag, Instance, Module, Value
from devicelint.interpreter.engine.frame import GLOBALS, Frame
from devicelint.interpreter.engine.objects import CLASS_FIELD
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.host_callers import is_reached_from_tests, library_bases


def note_choice(run: Run) -> None:
    """The program goes here to a device that somebody chooses, or that the machine does.

    What a test asks says where that runs; what the code asks that it tests does not.
    """
    if run.frame.is_checked or not is_reached_from_tests(run):
        run.program.choosing.add(part_of(run))


def note_required(run: Run) -> None:
    """The program ends here where the machine has no accelerator: it says that it needs one."""
    run.program.requiring.add(part_of(run))


def is_required(run: Run) -> bool:
    """Whether what leads here says that it needs an accelerator."""
    return not run.program.requiring.isdisjoint(_before(run))


_MARKS = "marks"
"""Stands for the tests of a file of which some are left out on some machines."""


def note_mark(run: Run) -> None:
    """A mark leaves out tests on some machines: the others of the file run there."""
    run.program.choosing.add(_MARKS)


def note_demand(run: Run) -> None:
    """The program goes to an accelerator here, whatever the machine has."""
    run.demands_accelerator = True
    run.program.demanding.add(part_of(run))
    if not run.world.accelerators:
        run.program.failing.add(part_of(run))


def note_sent(run: Run) -> None:
    """Something goes here to a device that is somebody else's choice: a caller's, an object's."""
    run.program.sending.add(part_of(run))


def leaves_the_cpu(run: Run) -> bool:
    """Whether any part of the file goes to another device, at least on some machine."""
    return bool(run.program.choosing or run.program.demanding or run.program.sending)


def is_for_accelerators(run: Run, part: object) -> bool:
    """Whether a part of the file fails without an accelerator, and leaves nobody a choice.

    It is asked where that machine was walked: what was reached on others alone, fails nowhere.
    """
    choosing, failing = run.program.choosing, run.program.failing
    if part in run.program.sending:
        return False
    if not choosing:
        return bool(failing)
    around = (GLOBALS, part)
    return choosing.isdisjoint(around) and not failing.isdisjoint(around)


def note_needed(run: Run) -> None:
    """The program asks CUDA here for what raises without it, and nothing guards that.

    A class that does so in one method is for CUDA alone.
    """
    run.program.needing.update((part_of(run), *_made(run), *_method(run)))


def is_needed_here(run: Run) -> bool:
    """Whether this very part cannot do without CUDA anyway."""
    return not run.program.needing.isdisjoint(_before(run))


def is_of_class_for_cuda(run: Run) -> bool:
    """Whether this is a method that nobody calls, and another one of its class needs CUDA.

    That one does not guard it: what such a class asks the machine is for something else.
    """
    cls = _class_of_first(run)
    if cls is None:
        return False
    others = (one for one in run.program.needing if isinstance(one, _Method) and one.cls is cls)
    own = {frame.node for frame in run.frame.outwards()}
    return any(one.function not in own for one in others)


def is_chosen_here(run: Run) -> bool:
    """Whether what leads here chooses the machine: the file as it begins, or this very part.

    A part is what runs as one: the statements of the file and all that they call, or a function
    that nothing here calls. Before a method, the object of its class was made; what the file itself
    has chosen, its names keep.
    """
    return not run.program.choosing.isdisjoint(_before(run))


def _before(run: Run) -> Iterator[object]:
    """The parts of the file that have run where this one does, and itself."""
    yield part_of(run)
    yield from _made(run)
    first = entered_first(run)
    if first is not None and any(map(_is_choice, run.state.fields(GLOBALS).values())):
        yield GLOBALS
    if is_reached_from_tests(run):
        yield _MARKS


def _made(run: Run) -> Iterator[_Made]:
    """The making of the object whose method all came from."""
    cls = _class_of_first(run)
    if cls is not None:
        yield _Made(cls)


def _method(run: Run) -> Iterator[_Method]:
    """The method of that object in which this is, or that has called it."""
    cls = _class_of_first(run)
    for frame in run.frame.outwards():
        if cls is not None and definition_of(run, frame.receiver) is cls:
            yield _Method(cls, frame.node)
            return


def _class_of_first(run: Run) -> Site:
    """The class of the object whose method all came from."""
    first = entered_first(run)
    return None if first is None else definition_of(run, first.receiver)


def definition_of(run: Run, receiver: Value | None) -> Site:
    """The definition of an object's class, which is the same in every world."""
    if not isinstance(receiver, (Module, Instance)):
        return None
    cls = run.state.read(receiver.ref, CLASS_FIELD)
    return cls.node if isinstance(cls, Class) else None


def _is_choice(value: Value) -> bool:
    """Whether a name of the file keeps what was chosen: a device, or whether there is one."""
    if isinstance(value, Const):
        return isinstance(value.value, str) and value.value.partition(":")[0] in DEVICE_TYPES
    return isinstance(value, (DeviceHandle, Flag))


@dataclass(frozen=True)
class _Made:
    """The making of an object of a class that nothing here makes: its `__init__`."""

    cls: Site


@dataclass(frozen=True)
class _Method:
    """A method of such a class."""

    cls: Site
    function: Site


def is_program(run: Run) -> bool:
    """Whether the statements of the file lead here, rather than whoever imports it."""
    return part_of(run) == GLOBALS


def part_of(run: Run) -> object:
    """What runs as one with what is walked here."""
    first = entered_first(run)
    if first is None:
        return GLOBALS
    made = definition_of(run, first.receiver) if first.name == "__init__" else None
    return first.node if made is None else _Made(made)


def first_function(run: Run) -> Site:
    """The function from which all came that nothing here calls, nor a class of a library.

    A library may call the methods that its class has, and Python those with two underscores.
    """
    first = entered_first(run)
    if first is None or first.name.startswith("_"):
        return None
    return first.node if set(library_bases(run, first)) <= _CALLING_NOTHING else None


_CALLING_NOTHING = frozenset(
    {"torch.nn.Module", "torch.nn.modules.module.Module", "abc.ABC", "builtins.object"}
)


def entered_first(run: Run) -> Frame | None:
    """The function that nothing in the file calls, from which all came; None for its statements."""
    first: Frame | None = None
    for frame in run.frame.outwards():
        if frame.caller is not None:
            first = frame
    return None if first is None or first.site is not None else first

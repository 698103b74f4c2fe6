"""Which parts of a program choose the machine that they run on: the others take it as it is."""

from __future__ import annotations

from devicelint.domain.values import Class, Instance, Module, Ref
from devicelint.interpreter.engine.frame import GLOBALS, Frame
from devicelint.interpreter.engine.objects import CLASS_FIELD
from devicelint.interpreter.engine.run import Run


def note_choice(run: Run) -> None:
    """The program asks here what the machine has, or goes to a device that somebody chooses."""
    run.program.choosing.add(part_of(run))


def note_demand(run: Run) -> None:
    """The program goes to an accelerator here, whatever the machine has."""
    run.demands_accelerator = True
    run.program.demanding.add(part_of(run))


def leaves_the_cpu(run: Run) -> bool:
    """Whether any part of the file goes to another device, at least on some machine."""
    return bool(run.program.choosing or run.program.demanding)


def is_for_accelerators(run: Run, part: object) -> bool:
    """Whether a part of the file fails without an accelerator, and leaves nobody a choice."""
    choosing, demanding = run.program.choosing, run.program.demanding
    if not choosing:
        return bool(demanding)
    around = (GLOBALS, part)
    return choosing.isdisjoint(around) and not demanding.isdisjoint(around)


def is_chosen_here(run: Run) -> bool:
    """Whether what leads here chooses the machine: the file as it begins, or this very part.

    A part is what runs as one: the statements of the file and all that they call, a function that
    nothing here calls, or the methods of a class that nothing here makes.
    """
    return not run.program.choosing.isdisjoint((GLOBALS, part_of(run)))


def is_program(run: Run) -> bool:
    """Whether the statements of the file lead here, rather than whoever imports it."""
    return part_of(run) == GLOBALS


def part_of(run: Run) -> object:
    """What runs as one with what is walked here."""
    first: Frame | None = None
    frame = run.frame
    while frame.caller is not None:
        first, frame = frame, frame.caller
    if first is None or first.site is not None:
        return GLOBALS
    return _class_of(run, first) or first.node


def _class_of(run: Run, frame: Frame) -> Ref | None:
    """The class of the object whose method a frame is."""
    if isinstance(frame.receiver, (Module, Instance)):
        cls = run.state.read(frame.receiver.ref, CLASS_FIELD)
        if isinstance(cls, Class):
            return cls.ref
    return frame.owner

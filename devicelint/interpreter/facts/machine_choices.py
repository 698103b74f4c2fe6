"""Which parts of a program choose the machine that they run on: the others take it as it is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from devicelint.domain.values import Class, Instance, Module, Ref
from devicelint.interpreter.engine.frame import GLOBALS, Frame
from devicelint.interpreter.engine.objects import CLASS_FIELD
from devicelint.interpreter.engine.run import Run


def note_choice(run: Run) -> None:
    """The program asks here what the machine has, or goes to a device that somebody chooses."""
    run.program.choosing.add(part_of(run))


@contextmanager
def requiring(run: Run) -> Iterator[None]:
    """Walk what the program insists on: to ask for an accelerator there leaves no choice."""
    before = frozenset(run.program.choosing)
    yield
    run.program.choosing.intersection_update(before)


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


def note_needed(run: Run) -> None:
    """The program asks CUDA here for what raises without it, and nothing guards that."""
    run.program.needing.add(part_of(run))


def is_needed_here(run: Run) -> bool:
    """Whether this very part cannot do without CUDA anyway."""
    return part_of(run) in run.program.needing


def is_chosen_here(run: Run) -> bool:
    """Whether what leads here chooses the machine: the file as it begins, or this very part.

    A part is what runs as one: the statements of the file and all that they call, a function that
    nothing here calls, or the methods of a class that nothing here makes.
    """
    return not run.program.choosing.isdisjoint((GLOBALS, part_of(run)))


def is_program(run: Run) -> bool:
    """Whether the statements of the file lead here, rather than whoever imports it."""
    return part_of(run) == GLOBALS


def is_chosen_around(run: Run) -> bool:
    """Whether another file of the programs that this one is a part of chooses the machine."""
    return _around(run, "chooses")


def is_taken_around(run: Run) -> bool:
    """Whether these programs, or the file's own statements, take an accelerator for granted."""
    program = run.program
    is_taken_here = GLOBALS in program.demanding and GLOBALS not in program.choosing
    return (is_taken_here or _around(run, "takes")) and not is_chosen_around(run)


def is_left_open(run: Run) -> bool:
    """Whether others may keep what they have on the CPU, or on another accelerator.

    Somebody names a device in the programs that the file is a part of, or there is no program
    around it: whoever imports it has a choice that it does not know.
    """
    program = run.program
    if program.library is None or not program.path:
        return False
    return _around(run, "lets") or not _around(run, "starts")


def _around(run: Run, what: str) -> bool:
    program = run.program
    if program.library is None or not program.path:
        return False
    return program.library.about(os.path.abspath(program.path), what) is not None


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

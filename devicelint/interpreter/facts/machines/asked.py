"""Questions about the machine, and which of them choose the one that something runs on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.steps import Notes
from devicelint.interpreter.facts.machines.choices import note_choice


class _Asked(Notes):
    """What was asked in a walk."""

    def __init__(self) -> None:
        self.is_asked_elsewhere = False
        """Whether another file has asked, for whatever it does with the answer."""
        self.is_mark = False
        """Whether a mark is walked, which leaves out tests by what is asked there."""


def note_asked(run: Run) -> None:
    """The code asks here what the machine has.

    The checked file shows what it does with the answer.  What another file does with it may have
    nothing to do with what is done here: that is a choice once something goes where it says.
    """
    if run.frame.is_checked or run.notes(_Asked).is_mark:
        note_choice(run)
    else:
        run.notes(_Asked).is_asked_elsewhere = True


def note_placed(run: Run) -> None:
    """Something goes to a device that no line writes out: the one for which a file has asked."""
    if run.notes(_Asked).is_asked_elsewhere:
        note_choice(run)


@contextmanager
def asking_for_marks(run: Run) -> Iterator[list[bool]]:
    """Walk what makes a mark; what is given is filled where it asks what the machine has."""
    asked: list[bool] = []
    chosen, counted = frozenset(run.program.choosing), run.counts_accelerators
    run.program.choosing.clear()
    run.counts_accelerators = False
    run.notes(_Asked).is_mark = True
    yield asked
    run.notes(_Asked).is_mark = False
    asked.extend([True] if run.program.choosing or run.counts_accelerators else [])
    run.program.choosing.clear()
    run.program.choosing.update(chosen)
    run.counts_accelerators |= counted

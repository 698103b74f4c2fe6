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
        self.is_asked = False
        """Whether any file has asked."""
        self.is_mark = False
        """Whether a mark is walked, which leaves out tests by what is asked there."""


def note_asked(run: Run) -> None:
    """The code asks here what the machine has.

    That may be for a seed, for a clock, or to say so: it is a choice once something goes where the
    answer says.  What a mark asks leaves out a test.
    """
    run.notes(_Asked).is_asked = True
    if run.notes(_Asked).is_mark:
        note_choice(run)


def note_placed(run: Run) -> None:
    """Something goes where somebody chose, or a device is named: by the machine, if it was asked.

    Where there are options, it may go by one of them: about results, or another part.
    """
    if run.notes(_Asked).is_asked and not run.world.settings:
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

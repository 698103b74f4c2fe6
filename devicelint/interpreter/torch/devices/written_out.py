"""The calls that go to an accelerator whatever the machine has, and those that somebody chose."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.history import Site
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.steps import Notes
from devicelint.interpreter.facts.machines.asked import note_placed
from devicelint.interpreter.facts.machines.choices import note_choice
from devicelint.interpreter.python.paths.device_questions import meets_accelerators_here


class WrittenOut(Notes):
    """The calls that go to an accelerator, whatever the machine has, and what names it there."""

    def __init__(self) -> None:
        self.chosen: set[Site] = set()
        """The others: those that go where somebody chose."""
        self.names: dict[Site, Site] = {}
        self.guarded: set[Site] = set()
        """Those that go there wherever there is one, and ask nothing else."""
        self.current: set[Site] = set()
        """Where CUDA was asked for its current device, which nothing guards."""


def note_chosen_at(run: Run, site: cst.CSTNode) -> None:
    """Something goes where somebody chose: of a model, `note_model` hears as well."""
    run.notes(WrittenOut).chosen.add(site)
    note_placed(run)


def note_own(run: Run, site: cst.CSTNode) -> None:
    """What goes there is a Module: where it is, its callers have to go."""
    run.notes(WrittenOut).guarded.discard(site)
    note_model(run, site)


def note_model(run: Run, site: Site) -> None:
    """What goes there is a model, or may be one: it is no result of what was computed here."""
    if site in run.notes(WrittenOut).chosen:
        note_choice(run)


def note_written_out(run: Run, name: Site, site: cst.CSTNode) -> None:
    """Remember a call that goes to an accelerator; a fix may say there where to go instead."""
    if run.frame.is_checked and not meets_accelerators_here(run):
        run.notes(WrittenOut).names[site] = name
        run.note_made(site)

"""Tensors that one path makes on the CPU, where another has what lies on a device."""

from __future__ import annotations

from devicelint.domain.training_events import MadeApart
from devicelint.interpreter.engine.run import Run


def announce_apart(run: Run) -> None:
    """Announce what was noted where paths met, for those calls that the checked file makes."""
    for site, other in run.apart.items():
        if run.world.accelerators and site in run.made_in:
            run.announce(MadeApart(site, other))

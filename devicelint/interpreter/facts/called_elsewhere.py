"""Clashes in other files, of what the checked file gives them with what they have themselves.

Another file is checked by itself, where what its functions are given may lie anywhere: that is only
possible, and says nothing.  The call that gives them something from an accelerator makes it true.
"""

from __future__ import annotations

from devicelint.domain.devices import CPU, agreement, may_be_accelerator
from devicelint.domain.events import MixedElsewhere, Operand
from devicelint.domain.history import Site
from devicelint.domain.standing import Level, Standing
from devicelint.domain.values import Module
from devicelint.domain.verdicts import Judged, Verdict
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.machines.around import is_run
from devicelint.interpreter.facts.movable import receivers_of


def report_elsewhere(run: Run, site: Site, operation: str, own: Operand, given: Operand) -> None:
    """Announce a clash at the call that handed one operand over, if that is what makes it one.

    What a program or a test shows of other files is reported there.
    """
    frame = None if is_run(run) else _entered(run, given)
    if frame is None or frame.site is None or given.since is None:
        return
    if own.device != CPU or not may_be_accelerator(given.device):
        return
    standing = Standing(Level.CALLED, receivers_of(run, given.since))
    if run.explains:
        run.explain(Judged(site, operation, Verdict(standing, (own, given), ())))
    passed = Operand(frame.passed[given.since], given.value, given.device, given.since)
    run.announce(
        MixedElsewhere(
            frame.site,
            run.code_of(frame.site.func),
            operation,
            passed,
            own,
            site,
            agreement(own.device, given.device),
            frame.caller,
            standing,
        )
    )


def _entered(run: Run, given: Operand) -> Frame | None:
    """The call of the checked file that handed a value to a plain function of another one."""
    frame: Frame | None = run.frame
    while frame is not None and given.since is not None and given.since in frame.passed:
        if isinstance(frame.receiver, Module):
            return None  # Where a Module's inputs meet what it has, its own file says so.
        if frame.caller is not None and frame.caller.is_checked:
            return frame
        frame = frame.caller
    return None

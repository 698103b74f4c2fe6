"""Calls of other files' functions that raise without an accelerator, on each of their paths."""

from __future__ import annotations

from devicelint.domain.api_events import DemandedElsewhere
from devicelint.domain.values import Value
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.hooks import Analysis, analysis
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.failures import Unreported


@analysis
class FailingCalls(Analysis):
    """Notes which calls were entered with nothing that fails, and left with nothing else."""

    serves = frozenset({DemandedElsewhere})

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._entered: Frame | None = None
        """The call of the checked file that is walked, where nothing had failed before."""

    def on_entered(self, frame: Frame) -> None:
        """Another file's function begins."""
        if not self._is_door(frame) or self.run.state.failed:
            return
        self._entered = frame
        self.run.notes(Unreported).last = None

    def on_returned(self, frame: Frame, arguments: Arguments, result: Value) -> None:
        """It has ended: where all its paths have failed, so has the call."""
        run = self.run
        if frame is not self._entered:
            return
        self._entered = None
        last = run.notes(Unreported).last
        if last is None or not run.state.failed or run.expected:
            return
        if run.assumptions != run.unrelated:
            return
        run.state.failed = False
        run.announce(DemandedElsewhere(frame.site, last[0], last[1]))
        run.state.failed = True

    def _is_door(self, frame: Frame) -> bool:
        """Whether a frame is the first outside of the checked file."""
        if self.run.world.accelerators or frame.site is None or frame.caller is None:
            return False
        return frame.caller.is_checked and not frame.is_checked

"""Calls of the project's own functions that are not followed, and may go to an accelerator.

Nobody knows whether they raise on a machine without one, or ask for it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import libcst as cst

from devicelint.domain.api_events import AcceleratorApiCalled, DemandedElsewhere, LegacyTypeUsed
from devicelint.domain.events import AcceleratorDemanded
from devicelint.domain.history import Site
from devicelint.domain.values import Bound, Function, Partial, Unknown, Value
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.frame import GLOBALS
from devicelint.interpreter.engine.hooks import Analysis, analysis
from devicelint.interpreter.facts.failures import Unfollowed, doubt


@analysis
class UnfollowedCalls(Analysis):
    """Doubts what comes after a call that was not followed, and what is handed to one."""

    serves = frozenset(
        {AcceleratorApiCalled, AcceleratorDemanded, DemandedElsewhere, LegacyTypeUsed}
    )

    def on_called_unseen(self, callee: Value, arguments: Arguments, site: cst.Call) -> None:
        """What is called was imported from a file that nobody walked."""
        unread = callee.unread if isinstance(callee, Unknown) else None
        if unread is None or not self._may_demand(*unread):
            return
        doubt(self.run)
        given = self.run.notes(Unfollowed).given
        for argument in arguments:
            given.update(_functions(argument.value))

    def on_not_followed(self, function: Function) -> None:
        """What is called is known, and too far away."""
        path = os.path.abspath(self.run.program.path)
        if self._may_demand(
            path if function.home == GLOBALS else str(function.home), function.name
        ):
            doubt(self.run)

    def _may_demand(self, home: str, name: str) -> bool:
        """Whether a function may raise on this machine, or whatever it calls by name."""
        library = self.run.program.library
        if library is None or self.run.world.accelerators:
            return False
        return library.demanded_by(home, name) is not None


def _functions(value: Value) -> Iterator[Site]:
    match value:
        case Function(node=node):
            yield node
        case Bound(function) | Partial(function):
            yield from _functions(function)
        case _:
            pass

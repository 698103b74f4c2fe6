"""A walk that also tells the value of expressions that somebody asks about."""

from __future__ import annotations

from collections.abc import Collection

import libcst as cst

from devicelint.domain.events import Evaluated, Event
from devicelint.domain.values import Value
from devicelint.domain.worlds import World
from devicelint.interpreter.patience import Patience
from devicelint.interpreter.program import Program
from devicelint.interpreter.run import Listener, Run


class WatchingRun(Run):
    """Announces `Evaluated` for each of `watched`, and what happens in the files imported."""

    def __init__(
        self,
        program: Program,
        world: World,
        listener: Listener,
        *,
        patience: Patience,
        splits: bool,
        watched: Collection[cst.CSTNode],
    ) -> None:
        super().__init__(program, world, listener, patience=patience, splits=splits)
        self._watched = watched

    def evaluate(self, node: cst.BaseExpression) -> Value:
        """The value of an expression, which is told where it is watched."""
        value = super().evaluate(node)
        if node in self._watched:
            self.announce(Evaluated(node, value))
        return value

    def announce(self, event: Event) -> None:
        """Tell everything, wherever it happens."""
        if not self.silences:
            self._listener(event, self)

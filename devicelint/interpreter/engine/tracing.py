"""Walks that also announce the values of expressions: of those that are watched, or of all."""

from __future__ import annotations

from collections.abc import Collection

import libcst as cst

from devicelint.domain.events import Evaluated, Event, Transfer
from devicelint.domain.values import (
    Bound,
    Class,
    Const,
    Flag,
    Function,
    HostValue,
    ImportedName,
    Module,
    ProjectModule,
    Unknown,
    Value,
)
from devicelint.domain.worlds import World
from devicelint.interpreter.engine.budget import Budget
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.program import Program
from devicelint.interpreter.engine.run import Listener, Run
from devicelint.interpreter.engine.tables import evaluates


class WatchingRun(Run):
    """Announces `Evaluated` for each of `watched`, and what happens in the files imported."""

    def __init__(
        self,
        program: Program,
        world: World,
        listener: Listener,
        *,
        budget: Budget,
        splits: bool,
        watched: Collection[cst.CSTNode],
    ) -> None:
        super().__init__(program, world, listener, budget=budget, splits=splits)
        self._watched = watched

    def evaluate(self, node: cst.BaseExpression) -> Value:
        """The value of an expression, which is announced where it is watched."""
        value = super().evaluate(node)
        if node in self._watched:
            self.announce(Evaluated(node, value))
        return value

    def announce(self, event: Event) -> None:
        """Announce everything, wherever it happens."""
        if not self.muted_parts:
            self.listener(event, self)


class JudgingRun(WatchingRun):
    """Announces each verdict, too."""

    explains = True

    def explain(self, event: Event) -> None:
        """Let the listener know, whoever listens in between."""
        self.listener(event, self)


class AnnouncingRun(Run):
    """Announces `Evaluated` for every expression of the checked file that may have a place.

    Moves in the files imported are announced, too.  The listener is to keep them apart:
    rules are for what `concerns` the file alone.
    """

    def __init__(
        self,
        program: Program,
        world: World,
        listener: Listener,
        *,
        budget: Budget,
        splits: bool,
    ) -> None:
        super().__init__(program, world, listener, budget=budget, splits=splits)
        self._first_listener = listener
        self._last_announced: dict[int, tuple[Value | None, Frame | None]] = {}

    def evaluate(self, node: cst.BaseExpression) -> Value:
        """The value of an expression, which is announced."""
        kind = type(node)
        if kind not in _PLACED:
            return super().evaluate(node)
        value = evaluates[kind](self, node)
        if type(value) not in _NOWHERE and self._announces_values and self.frame.is_checked:
            self._announce_value(node, value)
        return value

    def _announce_value(self, node: cst.BaseExpression, value: Value) -> None:
        """Announce a value, unless it was the last one of the expression in the same call.

        What moves in place is announced each time.
        """
        frame = self.frame
        last, where = self._last_announced.get(id(node), _NEVER)
        if last is not value or where is not frame or isinstance(value, Module):
            self._last_announced[id(node)] = value, frame
            self.listener(Evaluated(node, value), self)

    def announce(self, event: Event) -> None:
        """Announce what concerns the file, and each move elsewhere."""
        if isinstance(event, Transfer) and self._announces_values and not self.concerns(event):
            self.listener(event, self)
        super().announce(event)

    @property
    def _announces_values(self) -> bool:
        """Not where another one listens alone, to what may never happen."""
        return not self.muted_parts and self.listener is self._first_listener


_PLACED = frozenset({cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.BinaryOperation})
_NOWHERE = frozenset(
    {Bound, Class, Const, ImportedName, Flag, Function, HostValue, ProjectModule, Unknown}
)
_NEVER = (None, None)

"""Analyses: what hears the steps of a walk for a rule, and concludes something at its end.

Every module that registers one is found by being there.  An analysis is built for each walk, where
a selected rule hears one of the events that it serves.
"""

from __future__ import annotations

from collections.abc import Container
from typing import ClassVar, TypeVar

from devicelint.domain.events import Assigned, Event
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.steps import Hearer


class Analysis(Hearer):
    """Hears the steps of one walk, keeps its own notes, and says at the end what it concludes."""

    serves: ClassVar[frozenset[type[Event]]]
    """The events for which it is needed; `Event` itself where every rule may depend on it."""

    def __init__(self, run: Run) -> None:
        self.run = run


EVERY_EVENT: frozenset[type[Event]] = frozenset({Event})
"""Served by what the walk or the context of any rule needs."""

_ANALYSES: list[type[Analysis]] = []

Registered = TypeVar("Registered", bound=type[Analysis])


def analysis(kind: Registered) -> Registered:
    """Register an analysis."""
    _ANALYSES.append(kind)
    return kind


def attend(run: Run, wanted: Container[str] | None) -> None:
    """Let those analyses hear a run that serve an event which is wanted by name; None wants all."""
    run.tells_of_names = wanted is None or Assigned.__name__ in wanted
    run.attend(kind(run) for kind in _ANALYSES if _is_needed(kind, wanted))


def _is_needed(kind: type[Analysis], wanted: Container[str] | None) -> bool:
    if wanted is None or Event in kind.serves:
        return True
    return any(event.__name__ in wanted for event in kind.serves)

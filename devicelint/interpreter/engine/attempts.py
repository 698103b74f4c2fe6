"""A part of a walk that may be given up and walked again: what it left behind is taken back."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass, fields
from typing import Any

from devicelint.domain.events import Event
from devicelint.interpreter.engine.memory import Memory, Surroundings
from devicelint.interpreter.engine.run import Listener, Run
from devicelint.interpreter.engine.split import Split

MOST_SETTINGS = 2
"""How many flags are told apart at once."""


@dataclass(frozen=True)
class Retractable:
    """A listener that keeps what it hears in a list, and can forget what it has heard last."""

    listen: Listener
    kept: list[Any]

    def __call__(self, event: Event, run: Run) -> None:
        """Take note of one event."""
        self.listen(event, run)

    def mark(self) -> int:
        """How much is kept so far."""
        return len(self.kept)

    def retract(self, mark: int) -> None:
        """Keep no more than there was."""
        del self.kept[mark:]


Part = Callable[[], None]
"""Walks a part of a program that leaves the state as it was: a function that nobody calls."""


class Parts:
    """Walks parts of a program, each in those worlds that make a difference to it.

    Where a flag separates two paths of a part, the part is walked again for each of its values, and
    so are the other parts that ask for it.  A flag that what was walked before has asked for splits
    the whole program.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._asked_before = frozenset(run.undecided)
        self._splits: dict[str, Split] = {}
        self._walked: list[tuple[Part, frozenset[str]]] = []

    def walk(self, part: Part) -> None:
        """Walk one of them, and those before it again that ask for a flag which it splits."""
        run = self._run
        if not run.splits or not isinstance(run.listener, Retractable):
            part()
            return
        known = set(self._splits)
        asked = self._walk(part, run.listener)
        for key in [one for one in self._splits if one not in known]:
            for earlier, keys in self._walked:
                if key in keys:
                    self._walk_each(earlier, run.listener, self._splits[key])
        self._walked.append((part, asked))

    def _walk(self, part: Part, listener: Retractable) -> frozenset[str]:
        """Walk it in this world, or in those that a flag separates; gives what it leaves open."""
        run = self._run
        attempt = _Attempt(run, listener)
        run.undecided = set()
        try:
            part()
            self._tell_apart(run.undecided)
        except Split as split:
            attempt.take_back()
            if split.key in self._asked_before:
                raise
            self._splits.setdefault(split.key, split)
            run.undecided = set()
            self._walk_each(part, listener, split)
        asked = frozenset(run.undecided)
        run.undecided |= attempt.undecided
        return asked

    def _tell_apart(self, asked: Iterable[str]) -> None:
        """Give a walk up that has asked for a flag which another part has split."""
        split = next((one for key, one in self._splits.items() if key in asked), None)
        if split is not None and self._run.splits:
            raise split

    def _walk_each(self, part: Part, listener: Retractable, split: Split) -> None:
        run, world, remembered = self._run, self._run.world, self._run.remembered
        for chosen in (True, False):
            run.remembered = dict(remembered)
            run.world = world.choosing(split.key, chosen, on_cpu=split.on_cpu is chosen)
            run.splits = len(run.world.settings) < MOST_SETTINGS
            self._walk(part, listener)
        run.world, run.splits, run.remembered = world, True, remembered


class _Attempt:
    """How a walk was before a part of it, to go back to."""

    def __init__(self, run: Run, listener: Retractable) -> None:
        self.undecided = run.undecided
        self._world, self._run, self._listener = run.world, run, listener
        self._mark = listener.mark()
        self._frame, self._state = run.frame, run.state.fork()
        self._held = {name: copy(getattr(run, name)) for name in _REMEMBERED}
        self._notes = [(note, note.fork()) for note in run.all_notes]

    def take_back(self) -> None:
        """Make the walk what it was."""
        run = self._run
        self._listener.retract(self._mark)
        run.world, run.frame, run.state = self._world, self._frame, self._state
        for name, held in self._held.items():
            setattr(run, name, held)
        for note, before in self._notes:
            if before is not note:
                vars(note).update(vars(before))
        run.keep_notes(note for note, _ in self._notes)


_REMEMBERED = tuple(one.name for kind in (Surroundings, Memory) for one in fields(kind))

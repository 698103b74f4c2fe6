"""Modules that a branch of a loop moves, which the next iteration meets where they were left.

What both paths leave is on no device that could be said.  The path of the branch is one that the
loop goes on from all the same: the next iteration is walked for it alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import libcst as cst

from devicelint.domain.devices import Unsure
from devicelint.domain.history import Site, Verb
from devicelint.domain.state import DEVICE_FIELD, State
from devicelint.domain.values import Placed, Ref, Value
from devicelint.interpreter.engine.frame import Loop
from devicelint.interpreter.engine.hooks import EVERY_EVENT, Analysis, analysis
from devicelint.interpreter.engine.nodes import descendants
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.steps import Notes


class _Joins(Notes):
    """What lay on two devices where two paths met, one of which had moved it."""

    def __init__(self) -> None:
        self.places: list[tuple[Placed, Placed]] = []
        """Where it was, and where it was moved to."""


@analysis
class Strays(Analysis):
    """Notes what a path moves, and what it meets."""

    serves = EVERY_EVENT

    def on_joined(self, left: Value, right: Value) -> None:
        """Remember which of two places a move has led to."""
        if isinstance(left, Placed) and isinstance(right, Placed) and self.run.frame.loops:
            for was, moved in ((left, right), (right, left)):
                if moved.since.verb is Verb.MOVED:
                    self.run.notes(_Joins).places.append((was, moved))


@contextmanager
def led_astray(run: Run, loop: Loop, before: State) -> Iterator[bool]:
    """Go on, for one iteration, from where a branch has left the modules that it moved.

    Gives whether there are any; what that iteration leaves is forgotten.
    """
    astray = dict(_moved(run, loop, before)) if isinstance(loop.node, cst.For) else {}
    aside, breaks = run.state, len(loop.breaks)
    if astray:
        run.state = aside.fork()
        for ref, place in astray.items():
            run.state.write(ref, DEVICE_FIELD, place)
    yield bool(astray)
    run.state = aside
    del loop.breaks[breaks:]


def _moved(run: Run, loop: Loop, before: State) -> Iterator[tuple[Ref, Placed]]:
    """The modules that were somewhere before an iteration, and on one of its paths are not."""
    joins = run.notes(_Joins).places
    for ref, name in run.state.changes_since(before) if joins else ():
        was, now = before.read(ref, name), run.state.read(ref, name)
        if name != DEVICE_FIELD or not isinstance(now, Placed) or type(now.device) is not Unsure:
            continue
        for one, moved in joins:
            if one == was and not _happens_once(loop, moved.since.site):
                yield ref, moved


def _happens_once(loop: Loop, site: Site) -> bool:
    """Whether a line is reached by one iteration, which may be the last: where `i == count - 1`."""
    for node in descendants(loop.node.body):
        if isinstance(node, cst.If) and any(one is site for one in descendants(node.body)):
            parts = tuple(descendants(node.test))
            equal = any(isinstance(one, cst.Equal) for one in parts)
            if equal and not any(isinstance(one, cst.Modulo) for one in parts):
                return True
    return False

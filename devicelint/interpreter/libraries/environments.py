"""Environments of reinforcement learning: what they show is made on the host, whatever acts."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.values import ARRAY, HOST, Tuple, Value
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import library_call

_LENGTHS = (4, 5)
"""How many parts a step has: the newer ones tell `terminated` and `truncated` apart."""


@library_call("Observed")
def observed(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """`env.reset()`: an observation, or, as whoever unpacks it knows, what is told beside it."""
    return Tuple((ARRAY, HOST)) if _names(run, site) == len(("seen", "told")) else ARRAY


@library_call("ObservedBeside")
def observed_beside(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    return Tuple((ARRAY, HOST))


@library_call("Stepped")
def stepped(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """`env.step(action)`: an observation, a reward, and whether it is over."""
    names = _names(run, site)
    length = names if names in _LENGTHS else _LENGTHS[-1]
    return Tuple((ARRAY, *(HOST,) * (length - 1)))


def _names(run: Run, site: cst.Call) -> int:
    """How many names a call's result is unpacked into here; 0 where it is not."""
    statement = run.frame.statement
    if not isinstance(statement, cst.Assign) or statement.value is not site:
        return 0
    target = statement.targets[0].target
    return len(target.elements) if isinstance(target, cst.Tuple) else 0

"""NumPy arrays: they lie on the host, and have no method that would move them."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.values import ARRAY, HOST, Array, Value
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import methods
from devicelint.interpreter.facts.device_words import MOVES
from devicelint.interpreter.python.calls import arguments_of
from devicelint.interpreter.torch.transfers import move_deviceless


@methods(Array)
def method_of_array(run: Run, receiver: Array, name: str, node: cst.Call) -> Value:
    """What a method of an array gives: an array, or numbers of Python."""
    arguments = arguments_of(run, node)
    if name in MOVES and not run.expects("AttributeError"):
        return move_deviceless(run, receiver, "NumPy array", name, node, arguments)
    return HOST if name in ("item", "tolist") else ARRAY

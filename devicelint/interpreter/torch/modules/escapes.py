"""What is handed to code that nobody sees: a module may be moved there, in place."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.devices import CPU, Unsure
from devicelint.domain.history import Site, Step, Verb
from devicelint.domain.values import (
    Bound,
    Function,
    ImportedName,
    Module,
    Symbolic,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.hooks import EVERY_EVENT, Analysis, analysis
from devicelint.interpreter.engine.objects import module_device
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.stored_attributes import forget_stored
from devicelint.interpreter.torch.modules.registration import move_module

_SEEN_THROUGH = frozenset("torch builtins copy gc inspect logging pickle".split())
"""Where functions come from of which it is known that they move no module, except to shard it."""


@analysis
class Escapes(Analysis):
    """Lets go of the modules that are given to code which may move them."""

    serves = EVERY_EVENT

    def on_called_unseen(self, callee: Value, arguments: Arguments, site: cst.Call) -> None:
        """What calls of things outside are given may be moved there."""
        if may_move(callee):
            let_go(self.run, arguments, site)
            _may_be_called_back(self.run, arguments)

    def on_called_elsewhere(self, arguments: Arguments, site: cst.BaseExpression) -> None:
        """A module that goes with a device, as in `offload(net, execution_device=0)`, is placed."""
        if any("device" in name for name in arguments.keywords):
            let_go(self.run, arguments, site)


def may_move(callee: Value) -> bool:
    """Whether a callee is not seen, and so may move the modules that it is given."""
    if isinstance(callee, ImportedName):
        root = callee.name.partition(".")[0]
        return root not in _SEEN_THROUGH or callee.name.startswith("torch.distributed.")
    return isinstance(callee, (Symbolic, Unknown))


def _may_be_called_back(run: Run, arguments: Arguments) -> None:
    """A method that is handed to code which nobody sees is called there, nobody knows when."""
    for argument in arguments:
        given = argument.value
        if isinstance(given, Bound) and isinstance(given.function, Function):
            forget_stored(run, given.function.node, given.receiver)


def let_go(run: Run, arguments: Arguments, site: Site) -> None:
    """A module that was only built is, from now on, wherever that code wants it."""
    nowhere = Unsure("may be moved where it is given to")
    for argument in arguments:
        if not isinstance(argument.value, Module):
            continue
        place = module_device(run, argument.value)
        if place.since.verb is Verb.BUILT and place.device == CPU:
            move_module(run, argument.value, nowhere, Step(Verb.PLACED, site, nowhere))

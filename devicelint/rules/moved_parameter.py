from __future__ import annotations

import libcst as cst

from devicelint.domain.events import ParameterLost
from devicelint.finding import Severity
from devicelint.interpreter.scene import Scene
from devicelint.rules import _clashes as clashes
from devicelint.rules._base import Report, Reports, Rule, line_of
from devicelint.rules._leaves import create_on_device


class MovedParameter(Rule):
    """A Parameter that is moved is no Parameter any more, and no leaf."""

    code = "DEV107"
    name = "moved-parameter"
    severity = Severity.ERROR
    summary = "A moved nn.Parameter or leaf tensor is neither registered nor optimized"

    def on_parameter_lost(self, event: ParameterLost, scene: Scene) -> Reports:
        """It is assigned to a Module, or given to an optimizer, after the move."""
        move = event.move
        assert isinstance(move, cst.CSTNode)
        code = clashes.quoted(scene, move)
        consequence = (
            "a plain tensor is assigned, so that the module does not register it"
            if event.registered
            else "the optimizer gets a tensor that is no leaf, and raises"
        )
        yield Report(
            move,
            f"{code} is a copy on {event.tensor.device}, no longer the leaf that was created: "
            f"{consequence} (line {line_of(0)}); create it on the device",
            ((event.site, "used here"),),
            fix=create_on_device(scene, move),
        )

"""The rule about optimizers that keep state from the start, built before their model moves."""

from __future__ import annotations

from devicelint.domain.training_events import OptimizerStateElsewhere, StateOrigin
from devicelint.finding import Severity
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules import _optimizer_state
from devicelint.rules._base import Reports, Rule


class EagerOptimizerBeforeMove(Rule):
    """Adagrad creates its state when it is built, and the model moves afterwards."""

    code = "DEV304"
    name = "eager-optimizer-before-move"
    severity = Severity.ERROR
    summary = "Adagrad is built before the model moves, so its state stays on the old device"
    unfixed = "statements in different blocks would need to be reordered"

    def on_optimizer_state_elsewhere(
        self, event: OptimizerStateElsewhere, context: RuleContext
    ) -> Reports:
        """Every other optimizer of torch makes its state in the first step."""
        if event.origin is StateOrigin.BUILT:
            what = "Adagrad creates its state here while the model is"
            yield _optimizer_state.report(event, context, what, "move the model first")

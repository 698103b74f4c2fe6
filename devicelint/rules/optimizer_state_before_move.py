"""The rule about optimizers that are loaded, or step, before their model moves."""

from __future__ import annotations

from devicelint.domain.training_events import OptimizerStateElsewhere, StateOrigin
from devicelint.finding import Severity
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules import _optimizer_state
from devicelint.rules._base import Reports, Rule


class OptimizerStateBeforeMove(Rule):
    """The state of an optimizer stays behind when the model moves."""

    code = "DEV302"
    name = "optimizer-state-before-move"
    severity = Severity.ERROR
    summary = "Optimizer state is created or loaded before the model moves"
    unfixed = "statements in different blocks would need to be reordered"

    def on_optimizer_state_elsewhere(
        self, event: OptimizerStateElsewhere, context: RuleContext
    ) -> Reports:
        """`load_state_dict()` or a first `step()`, then the move, then another `step()`."""
        what = _SAID.get(event.origin)
        if what is not None:
            yield _optimizer_state.report(event, context, what, "move the model first")


_SAID = {
    StateOrigin.LOADED: "the optimizer's state is loaded while the model is",
    StateOrigin.STEPPED: "the first step creates the optimizer's state while the model is",
}

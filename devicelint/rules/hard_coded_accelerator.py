"""Code that goes to an accelerator where the rest of it provides for a machine without one."""

from __future__ import annotations

from devicelint.domain.events import AcceleratorDemanded
from devicelint.finding import Severity
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules._accelerator_demands import Demands
from devicelint.rules._base import Reports, Rule


class HardCodedAccelerator(Rule):
    """`.cuda()` beside `device = "cuda" if torch.cuda.is_available() else "cpu"`."""

    code = "DEV401"
    name = "hard-coded-accelerator"
    severity = Severity.WARNING
    summary = "A hard-coded accelerator fails on a machine without one that the code provides for"

    def __init__(self) -> None:
        self._demands = Demands(contradicting=True)

    def on_accelerator_demanded(self, event: AcceleratorDemanded, context: RuleContext) -> Reports:
        """What contradicts the choice that the code else has."""
        return self._demands.reports(event, context)

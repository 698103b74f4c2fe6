"""Code that is for machines with an accelerator alone, and does not say so."""

from __future__ import annotations

from devicelint.domain.events import AcceleratorDemanded
from devicelint.finding import Severity
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules._accelerator_demands import Demands
from devicelint.rules._base import Reports, Rule


class AcceleratorRequired(Rule):
    """`.cuda()` in a script that never asks whether the machine has CUDA."""

    code = "DEV409"
    name = "accelerator-required"
    severity = Severity.WARNING
    summary = "A script needs an accelerator throughout, and fails on every machine without one"
    default = False
    adopts = True

    def __init__(self) -> None:
        self._demands = Demands(contradicting=False)

    def on_accelerator_demanded(self, event: AcceleratorDemanded, context: RuleContext) -> Reports:
        """What agrees with the rest of the code, which may well be meant for such machines."""
        return self._demands.reports(event, context)

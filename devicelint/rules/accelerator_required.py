"""Code that is for machines with an accelerator alone, and does not say so."""

from __future__ import annotations

from dataclasses import replace

from devicelint.domain.api_events import (
    AcceleratorApiCalled,
    DemandedElsewhere,
    LegacyTypeUsed,
    LegacyUse,
)
from devicelint.domain.events import AcceleratorDemanded
from devicelint.domain.history import Site
from devicelint.finding import Severity
from devicelint.fixes import asks_for
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules import _clashes as clashes
from devicelint.rules._accelerator_demands import Demands, lacking, where_named
from devicelint.rules._base import Report, Reports, Rule

_PROGRAM = "the program"


class AcceleratorRequired(Rule):
    """`.cuda()` in a script that never asks whether the machine has CUDA."""

    code = "DEV409"
    name = "accelerator-required"
    severity = Severity.NOTE
    summary = "A script needs an accelerator throughout and fails on every machine without one"
    unfixed = "the whole program needs to change, not only this line"
    adopts = True

    def __init__(self) -> None:
        self._demands = Demands(contradicting=False)
        self._places: set[Site] = set()

    def on_accelerator_demanded(self, event: AcceleratorDemanded, context: RuleContext) -> Reports:
        """What agrees with the rest of the code, which may well be meant for such machines."""
        reports = self._demands.reports(event, context)
        if self.asked_for:
            yield from (replace(one, severity=Severity.WARNING) for one in reports)
        elif not event.is_idle:
            self._places.add(event.site)
            if any(True for _ in reports) and _is_for_accelerators(context):
                yield self._of_program(event.site, lacking(event.device), context)

    def on_accelerator_api_called(
        self, event: AcceleratorApiCalled, context: RuleContext
    ) -> Reports:
        """`torch.cuda.synchronize()` raises there, too, and may be the first that does."""
        if self.asked_for or not event.name.startswith("torch.cuda."):
            return
        self._places.add(event.site)
        if not context.world.accelerators and _is_for_accelerators(context):
            yield self._of_program(event.site, "CUDA", context)

    def on_legacy_type_used(self, event: LegacyTypeUsed, context: RuleContext) -> Reports:
        """`torch.cuda.FloatTensor(3)` raises there, too."""
        if self.asked_for or event.use is LegacyUse.KEYWORD:
            return
        self._places.add(event.site)
        if not context.world.accelerators and _is_for_accelerators(context):
            yield self._of_program(event.site, "CUDA", context)

    def on_demanded_elsewhere(self, event: DemandedElsewhere, context: RuleContext) -> Reports:
        """A function of another file raises there, which may be what the program does first."""
        if self.asked_for or asks_for(event.device.type) is None:
            return
        self._places.add(event.site)
        if not context.world.accelerators and _is_for_accelerators(context):
            fails = event.failing, "fails here without one"
            yield self._of_program(event.site, lacking(event.device), context, fails)

    def _of_program(
        self, site: Site, hardware: str, context: RuleContext, *related: tuple[Site, str]
    ) -> Report:
        """One note for all places, at the one that is reached first."""
        others = len(self._places) - 1
        more = (
            f", and so do {others} other places" if others > 1 else ", and so does one other place"
        )
        return Report(
            where_named(site, context),
            f"{clashes.quoted(context, site)} fails on a machine without {hardware}"
            f"{more if others else ''}; the code never chooses another device: `devicelint adopt` "
            "adds the choice",
            related,
            subject=_PROGRAM,
        )


def _is_for_accelerators(context: RuleContext) -> bool:
    """Whether a program, or a file that nobody is seen to use, leaves no choice of the machine.

    What fails before it without a word is where such a machine stops.
    """
    intent = context.intent
    if not intent.is_first():
        return False
    return intent.takes_machine_as_it_is() or intent.is_for_whoever_has_one()

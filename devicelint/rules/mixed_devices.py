"""The operands of an operation are on different devices."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.devices import CPU, Agreement
from devicelint.domain.events import MixedElsewhere, MixedOperation
from devicelint.finding import FAILS_HERE, Severity
from devicelint.fixes import InsertAfter, Rewrite
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules import _clashes as clashes
from devicelint.rules import _move_fixes as moving
from devicelint.rules._base import Report, Reports, Rule


class MixedDevices(Rule):
    """Operands of one operation are on different devices."""

    code = "DEV102"
    name = "mixed-devices"
    severity = Severity.ERROR
    summary = "The operands of an operation are on different devices"
    unfixed = "the device, or the value to move, has no name there"

    def on_mixed_operation(self, event: MixedOperation, context: RuleContext) -> Reports:
        """One operand is to be moved to where the other is."""
        clash = event.clash
        if clashes.is_fresh(context, clash) or clashes.is_kept(clash.culprit):
            return
        here = context.at(clash)
        fix = moving.move_culprit(context, clash) or _bring_to_storage(context, event)
        what = clashes.quoted(here, clash.culprit.site)
        other = clashes.quoted(context, clash.reference.site)
        if clash.culprit.site is clash.reference.site:
            what, other = f"a part of {what}", "another part"
        yield Report(
            clash.culprit.site,
            f"{what} is on {clashes.place(clash.culprit)}{clashes.since(clash.culprit, 0)}, but "
            f"{other} is on {clashes.place(clash.reference)}{clashes.since(clash.reference, 1)}: "
            f"`{event.operation}` needs both on the same device{clashes.condition(clash)}",
            (*clashes.history(clash.culprit, clash.reference), *clashes.failing(context, clash)),
            clashes.severity(clash),
            clashes.certainty(clash),
            fix,
            subject=clashes.subject(clash, fix),
        )

    def on_mixed_elsewhere(self, event: MixedElsewhere, context: RuleContext) -> Reports:
        """What a function of another file is given is not where that has what it combines."""
        given, met = event.given, event.met
        yield Report(
            given.site,
            f"{clashes.quoted(context, given.site)} is on {clashes.place(given)}"
            f"{clashes.since(given, 0)}, but `{event.function}()` combines it with "
            f"{clashes.quoted(context, met.site)}, which is on {clashes.place(met)}: "
            f"`{event.operation}` needs both on the same device",
            (*clashes.history(given, met), (event.failing, FAILS_HERE)),
            Severity.ERROR if event.agreement is Agreement.DIFFERENT else Severity.WARNING,
            subject=(event.site, event.failing),
        )


def _bring_to_storage(context: RuleContext, event: MixedOperation) -> Rewrite | None:
    """`.cpu()` for what is written into a tensor that stays there."""
    culprit = event.clash.culprit
    if not event.in_place or event.clash.reference.device != CPU:
        return None
    assert isinstance(culprit.site, cst.CSTNode)
    what = clashes.quoted(context.at(event.clash), culprit.site)
    return Rewrite(f"Move {what} with `.cpu()`", (InsertAfter(culprit.site, ".cpu()"),))

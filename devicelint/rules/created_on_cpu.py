"""A tensor is created without a device and meets values on another one."""

from __future__ import annotations

from devicelint.domain.api_events import PartMadeElsewhere
from devicelint.domain.events import Clash, MisplacedInput, MixedOperation
from devicelint.finding import FAILS_HERE, Severity
from devicelint.interpreter.analyses.placeholders import RETURNED
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules import _clashes as clashes
from devicelint.rules import _move_fixes as moving
from devicelint.rules._base import Report, Reports, Rule
from devicelint.rules._parts import made_beside

_MEETS = {RETURNED: "other paths return values computed from"}
"""How a tensor meets others without an operation."""


class CreatedOnCpu(Rule):
    """A tensor created without `device=` is combined with values on another device."""

    code = "DEV103"
    name = "created-on-cpu"
    severity = Severity.ERROR
    summary = "A tensor created without `device=` is combined with values on another device"
    unfixed = "the device, or the value to move, has no name there"

    def on_mixed_operation(self, event: MixedOperation, context: RuleContext) -> Reports:
        """The new tensor is an operand."""
        if clashes.is_fresh(context, event.clash) and not clashes.is_kept(event.clash.culprit):
            met = clashes.quoted(context, event.clash.reference.site)
            words = _MEETS.get(event.operation, "is combined with")
            yield self._report(event.clash, context, f"{words} {met}")

    def on_misplaced_input(self, event: MisplacedInput, context: RuleContext) -> Reports:
        """The new tensor is an input of a module."""
        if clashes.is_fresh(context, event.clash) and not clashes.is_kept(event.clash.culprit):
            yield self._report(event.clash, context, f"is passed to module `{event.module}`")

    def on_part_made_elsewhere(self, event: PartMadeElsewhere, context: RuleContext) -> Reports:
        """The new tensor is part of a Module that makes another on a device that it is given."""
        if not event.is_module:
            yield made_beside(context, event)

    def _report(self, clash: Clash, context: RuleContext, met: str) -> Report:
        step = clash.culprit.since
        assert step is not None
        return Report(
            step.site,
            f"{clashes.quoted(context, step.site)} is created on the CPU, but {met}, which is on "
            f"{clashes.place(clash.reference)}{clashes.since(clash.reference, 0)}"
            f"{clashes.condition(clash)}: {moving.how_to_create(step.site)}",
            (*clashes.history(clash.reference), (clash.failing, FAILS_HERE)),
            clashes.severity(clash),
            clashes.certainty(clash),
            moving.move_culprit(context, clash),
        )

"""A module is called with a tensor from another device."""

from __future__ import annotations

from devicelint.domain.api_events import PartMadeElsewhere
from devicelint.domain.events import MisplacedInput, Operand
from devicelint.finding import Severity
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules import _clashes as clashes
from devicelint.rules import _move_fixes as moving
from devicelint.rules._base import Report, Reports, Rule, line_of
from devicelint.rules._parts import made_beside
from devicelint.rules._unmoved_module_fixes import is_never_moved, move_module


class ModuleInputElsewhere(Rule):
    """A module is called with a tensor that is not on the module's device."""

    code = "DEV101"
    name = "module-input-elsewhere"
    severity = Severity.ERROR
    summary = "A module is called with an input on another device"
    unfixed = "the device, or the value to move, has no name there"

    def on_misplaced_input(self, event: MisplacedInput, context: RuleContext) -> Reports:
        """The input is to be moved, unless it is new: then it is to be created there."""
        clash = event.clash
        if clashes.is_fresh(context, clash):
            return
        if context.names.is_hidden(clash.reference.value) or clashes.is_kept(clash.culprit):
            return
        if is_never_moved(context, clash.reference):
            yield self._never_moved(event, context)
            return
        here = context.at(clash)
        if clashes.is_led_astray(here, clash.reference):
            yield self._led_astray(event, context)
            return
        what = clashes.quoted(here, clash.culprit.site)
        fix = moving.move_culprit(context, clash)
        yield Report(
            clash.culprit.site,
            f"{what} is on {clashes.place(clash.culprit)}{clashes.since(clash.culprit, 0)}, but "
            f"module `{event.module}` is on {clashes.place(clash.reference)}"
            f"{clashes.since(clash.reference, 1)}{clashes.condition(clash)}"
            f"{_if_pinned(clash.culprit)}",
            (*clashes.history(clash.culprit, clash.reference), *clashes.failing(context, clash)),
            clashes.severity(clash),
            clashes.certainty(clash),
            fix,
            subject=clashes.subject(clash, fix),
        )

    def on_part_made_elsewhere(self, event: PartMadeElsewhere, context: RuleContext) -> Reports:
        """A part of a Module is built on the CPU, and another one where the Module is told."""
        if event.is_module:
            yield made_beside(context, event)

    def _never_moved(self, event: MisplacedInput, context: RuleContext) -> Report:
        """The module is at fault, and is to be moved as soon as it is built."""
        clash = event.clash
        step = clash.reference.since
        assert step is not None
        what = clashes.quoted(context.at(clash), clash.culprit.site)
        fix = move_module(context, clash)
        return Report(
            step.site,
            f"{clashes.quoted(context, step.site)} is built on the CPU and never moved, but module "
            f"`{event.module}` is called on line {line_of(2)} with {what}, which is on "
            f"{clashes.place(clash.culprit)}{clashes.since(clash.culprit, 1)}"
            f"{clashes.condition(clash)}",
            (
                *clashes.history(clash.reference, clash.culprit),
                (clash.culprit.site, "passed to the module here"),
            ),
            clashes.severity(clash),
            clashes.certainty(clash),
            fix,
            subject=step,
        )

    def _led_astray(self, event: MisplacedInput, context: RuleContext) -> Report:
        """The module was where its input is, until a line moved it that comes later in the loop."""
        clash = event.clash
        step = clash.reference.since
        assert step is not None
        here = context.at(clash)
        return Report(
            step.site,
            f"{clashes.quoted(here, step.site)} leaves module `{event.module}` on "
            f"{clashes.place(clash.reference)}, but in the next iteration line {line_of(0)} calls "
            f"it with {clashes.quoted(here, clash.culprit.site)} on {clashes.place(clash.culprit)}"
            f"{clashes.condition(clash)}: move it back, or move a copy",
            ((clash.culprit.site, "passed to the module here"), *clashes.history(clash.culprit)),
            clashes.severity(clash),
            clashes.certainty(clash),
            subject=step,
        )


def _if_pinned(culprit: Operand) -> str:
    is_pinned = culprit.since is not None and culprit.since.pinned
    return "; pin_memory=True does not move it" if is_pinned else ""

"""A device is chosen, and the model that is trained never gets there."""

from __future__ import annotations

import libcst as cst

from devicelint.domain import training_events
from devicelint.finding import Safety, Severity
from devicelint.fixes import InsertAfter, Rewrite
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules._base import Report, Reports, Rule, line_of


class DeviceUnusedRule(Rule):
    """`device = …`, but the model is built, trained, and never moved there."""

    code = "DEV701"
    name = "device-unused"
    severity = Severity.WARNING
    summary = "The script chooses a device, but trains its model on the CPU"
    unfixed = "the place where the device was meant to be used is not known"

    def on_device_unused(
        self, event: training_events.DeviceUnused, context: RuleContext
    ) -> Reports:
        """Nothing is brought to the device, so that nothing fails either."""
        fix = _move(event, context)
        move = f"`.to({event.name})`" if event.device is not None else "`.to()`"
        chosen = (
            "is an option that is never read" if event.is_option else "is chosen but never used"
        )
        yield Report(
            event.site,
            f"`{event.name}` {chosen}: {event.model.name} is built on the CPU (line {line_of(0)}) "
            f"and trains there on every machine (line {line_of(1)}); move it and each batch with "
            f"{move}",
            (
                (event.model.since.site, "built on the CPU here"),
                (event.step, "trained here"),
            ),
            fix=fix,
        )


def _move(event: training_events.DeviceUnused, context: RuleContext) -> Rewrite | None:
    """The model is moved where it is built; what it is given then shows up as misplaced."""
    made = event.model.since.site
    there = context.where_made(made)
    if event.device is None or there is None or not isinstance(made, cst.Call):
        return None
    device = there.moves.spelling(event.device)
    if device is None:
        return None
    return Rewrite(
        f"Move it and its inputs to `{device}`: it then trains there",
        (InsertAfter(made, f".to({device})"),),
        Safety.UNSAFE,
        begins=True,
    )

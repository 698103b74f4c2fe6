"""A batch of an unknown kind goes to a module that was moved."""

from __future__ import annotations

from devicelint.domain import data_events
from devicelint.finding import Severity
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules import _clashes as clashes
from devicelint.rules._base import Report, Reports, Rule


class UnknownInputRule(Rule):
    """`for batch in batches: model(batch)`, where the device of each batch is unknown."""

    code = "DEV704"
    name = "unknown-input"
    severity = Severity.NOTE
    summary = "A module on a device is called with a batch whose device is unknown"
    default = False
    adopts = True

    def on_unknown_input(self, event: data_events.UnknownInput, context: RuleContext) -> Reports:
        """Once for each expression, and each thing that it comes out of."""
        what = clashes.quoted(context, event.site)
        yield Report(
            event.site,
            f"{what} comes from {clashes.quoted(context, event.source)} on an unknown device, "
            f"but module {clashes.quoted(context, event.module.site)} is on "
            f"{clashes.place(event.module)}{clashes.since(event.module, 0)}: move it there unless "
            f"it already is",
            clashes.history(event.module),
            subject=(what, event.source),
        )

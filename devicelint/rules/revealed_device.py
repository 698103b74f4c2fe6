"""A reader asks where a value is."""

from __future__ import annotations

from devicelint.domain.devices import Unsure
from devicelint.domain.events import Revealed
from devicelint.finding import Severity
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules._base import Report, Reports, Rule


class RevealedDevice(Rule):
    """`reveal_device(x)` shows where devicelint believes x to be."""

    code = "DEV000"
    name = "revealed-device"
    severity = Severity.NOTE
    summary = "`reveal_device(x)` shows the device of `x`"

    def on_revealed(self, event: Revealed, context: RuleContext) -> Reports:
        """Say each device on which it is, on whichever machine.

        A machine without an accelerator gets no further where one is demanded.
        """
        shown = str(event.device)
        if context.world.accelerators == 0 and isinstance(event.device, Unsure):
            return
        yield Report(event.site, shown, subject=(event.site, shown))

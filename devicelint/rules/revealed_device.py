from __future__ import annotations

from devicelint.domain.events import Revealed
from devicelint.finding import Severity
from devicelint.interpreter.scene import Scene
from devicelint.rules._base import Report, Reports, Rule


class RevealedDevice(Rule):
    """`reveal_device(x)` shows where devicelint believes x to be."""

    code = "DEV000"
    name = "revealed-device"
    severity = Severity.NOTE
    summary = "reveal_device(x) shows on which device x is"

    def on_revealed(self, event: Revealed, scene: Scene) -> Reports:
        """Say the device, in the world in which the call was reached."""
        yield Report(event.site, str(event.device))

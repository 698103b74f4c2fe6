from __future__ import annotations

import libcst as cst

from devicelint.domain.devices import DEVICE_TYPES
from devicelint.domain.events import DeviceCompared, IndexTested
from devicelint.finding import Severity
from devicelint.fixes import InsertAfter, Rewrite
from devicelint.interpreter.scene import Scene
from devicelint.rules import _clashes as clashes
from devicelint.rules._base import Report, Reports, Rule


class DeviceComparedWithString(Rule):
    """A `torch.device` never equals a string; GPU 0 is false."""

    code = "DEV405"
    name = "device-compared-with-string"
    severity = Severity.ERROR
    summary = "A torch.device never equals a string, and GPU 0 is false"

    def on_device_compared(self, event: DeviceCompared, scene: Scene) -> Reports:
        """`device == "cuda"` is always False, `device != "cuda"` always True."""
        outcome = "False" if event.operator == "==" else "True"
        device = clashes.quoted(scene, event.device_site)
        assert isinstance(event.device_site, cst.CSTNode)
        fix = None
        if event.text in DEVICE_TYPES:
            fix = Rewrite("Compare its `.type`", (InsertAfter(event.device_site, ".type"),))
        yield Report(
            event.site,
            f"{device} is a torch.device, which never equals a string: this is always {outcome}; "
            f"compare {device[:-1]}.type`",
            fix=fix,
            anywhere=True,
        )

    def on_index_tested(self, event: IndexTested, scene: Scene) -> Reports:
        """The index of the first GPU is 0, which is false."""
        index = clashes.quoted(scene, event.index_site)
        assert isinstance(event.index_site, cst.CSTNode)
        yield Report(
            event.site,
            f"{index} is a device index, and GPU 0 is false: compare it with None",
            fix=Rewrite("Compare with None", (InsertAfter(event.index_site, " is not None"),)),
            anywhere=True,
        )

"""A program trains on the CPU alone: nothing in it chooses a device."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.history import Site
from devicelint.domain.training_events import CpuOnly
from devicelint.finding import Severity
from devicelint.fixes import AddKeyword, Change, DefineDevice, InsertAfter, Rewrite
from devicelint.interpreter.scene import Scene
from devicelint.rules import _clashes as clashes
from devicelint.rules._base import Report, Reports, Rule


class CpuOnlyScript(Rule):
    """`model = Net()`, trained, in a program without any device."""

    code = "DEV702"
    name = "cpu-only-script"
    severity = Severity.NOTE
    summary = "A program trains on the CPU, as nothing in it chooses a device"
    default = False
    adopts = True

    def on_cpu_only(self, event: CpuOnly, scene: Scene) -> Reports:
        """All that is trained moves at once, and each part is told of."""
        device = event.name or "device"
        advice = f"choose a `{device}`, " + (
            f"move it there with `.to({device})`, and what it is given"
            if event.is_module
            else f"create it there with `device={device}`, and what it meets"
        )
        yield Report(
            event.site,
            f"{clashes.quoted(scene, event.site)} is on the CPU, whatever the machine has: "
            f"{advice}",
            fix=_adopted(event),
            anywhere=True,
        )


def _adopted(event: CpuOnly) -> Rewrite | None:
    if event.name is None:
        return None
    moves = (_moved(site, is_module, event.name) for site, is_module in event.parts)
    return Rewrite(
        f"Choose one `{event.name}`, and move there what is trained",
        (DefineDevice(event.name), *moves),
        begins=True,
    )


def _moved(site: Site, is_module: bool, device: str) -> Change:
    assert isinstance(site, cst.Call)
    if is_module or not clashes.takes_device(site):
        return InsertAfter(site, f".to({device})")
    return AddKeyword(site, "device", device)

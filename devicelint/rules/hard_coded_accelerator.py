from __future__ import annotations

import libcst as cst

from devicelint.domain.events import AcceleratorDemanded
from devicelint.finding import Safety, Severity
from devicelint.fixes import Change, DefineDevice, Replace, Rewrite
from devicelint.interpreter.scene import Scene
from devicelint.rules import _clashes as clashes
from devicelint.rules._base import Report, Reports, Rule


class HardCodedAccelerator(Rule):
    """The code goes to an accelerator without asking whether there is one."""

    code = "DEV401"
    name = "hard-coded-accelerator"
    severity = Severity.WARNING
    summary = "A hard-coded accelerator fails on every machine without one"

    def on_accelerator_demanded(self, event: AcceleratorDemanded, scene: Scene) -> Reports:
        """A literal, or `.cuda()`, that no condition guards."""
        assert isinstance(event.site, cst.CSTNode)
        what = clashes.quoted(scene, event.site)
        yield Report(
            event.site,
            f"{what} demands {event.device} ({event.how}), and fails on a machine without it: "
            "choose the device once, with torch.cuda.is_available()",
            fix=_pattern(scene, event),
        )


def _pattern(scene: Scene, event: AcceleratorDemanded) -> Rewrite | None:
    """One `device` for the whole file: the one that it has, or a new one after the imports."""
    site = event.site
    safety = Safety.UNSAFE if scene.demands_on_purpose() else Safety.SAFE
    if scene.names_the_device(site):
        return _choose_where_named(scene, event, safety)
    name = scene.module_device_name()
    changes: list[Change] = []
    if name is None:
        name = scene.free_name("device")
        changes.append(DefineDevice(name))
    changes.append(_replacement(scene, event, name))
    return Rewrite(f"Use `{name}`, chosen once for the file", tuple(changes), safety)


def _choose_where_named(
    scene: Scene, event: AcceleratorDemanded, safety: Safety
) -> Rewrite | None:
    """`torch.device("cuda")` or `device = "cuda"`: the choice goes right there."""
    site = event.site
    torch = scene.torch_name()
    if torch is None or not isinstance(site, cst.SimpleString):
        return None
    literal = scene.code(site)
    quote = literal[-1]
    choice = f"{literal} if {torch}.cuda.is_available() else {quote}cpu{quote}"
    return Rewrite("Choose the device by what the machine has", (Replace(site, choice),), safety)


def _replacement(scene: Scene, event: AcceleratorDemanded, name: str) -> Change:
    site = event.site
    assert isinstance(site, cst.CSTNode)
    if event.literal or not (isinstance(site, cst.Call) and isinstance(site.func, cst.Attribute)):
        return Replace(site, name)
    kept = ", ".join(scene.code(a) for a in site.args if a.keyword and a.keyword.value != "device")
    arguments = f"{name}, {kept}" if kept else name
    return Replace(site, f"{scene.code(site.func.value)}.to({arguments})")

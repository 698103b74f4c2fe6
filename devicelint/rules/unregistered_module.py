from __future__ import annotations

import libcst as cst

from devicelint.domain.events import HiddenModules, ModuleDefined
from devicelint.finding import Severity
from devicelint.fixes import Rewrite, WrapInCall
from devicelint.interpreter.scene import Scene
from devicelint.rules._base import Report, Reports, Rule


class UnregisteredModule(Rule):
    """Submodules in a plain list, tuple or dict: `.to()` and the optimizer miss them."""

    code = "DEV105"
    name = "unregistered-module"
    severity = Severity.ERROR
    summary = "Submodules in a plain container are missed by .to() and by the optimizer"

    def on_module_defined(self, event: ModuleDefined, scene: Scene) -> Reports:
        """Each plain container that holds modules which nothing else registers."""
        for hidden in event.hidden:
            wrapper = "ModuleDict" if hidden.kind == "dict" else "ModuleList"
            yield Report(
                hidden.site,
                f"self.{hidden.attribute} of {event.module.name} is a plain {hidden.kind} of "
                "modules: .to(), .parameters() and the optimizer miss them; "
                f"use nn.{wrapper}",
                fix=_wrap(scene, hidden, wrapper),
                anywhere=True,
            )


def _wrap(scene: Scene, hidden: HiddenModules, wrapper: str) -> Rewrite | None:
    name = scene.name_of(f"torch.nn.{wrapper}")
    if name is None:
        return None
    assert isinstance(hidden.value_site, cst.CSTNode)
    return Rewrite(f"Register them with `{name}`", (WrapInCall(hidden.value_site, name),))

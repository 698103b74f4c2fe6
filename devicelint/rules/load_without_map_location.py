from __future__ import annotations

import libcst as cst

from devicelint.domain.events import Load
from devicelint.finding import Severity
from devicelint.fixes import AddKeyword, Rewrite
from devicelint.interpreter.scene import Scene
from devicelint.rules._base import Report, Reports, Rule


class LoadWithoutMapLocation(Rule):
    """A checkpoint is loaded without map_location."""

    code = "DEV303"
    name = "load-without-map-location"
    severity = Severity.WARNING
    summary = "torch.load() without map_location fails where the saving device is missing"

    def on_load(self, event: Load, scene: Scene) -> Reports:
        """Only what is used as a checkpoint: data files hold whatever was put there."""
        if not event.used_as:
            return
        assert isinstance(event.site, cst.Call)
        where = scene.device_name() or '"cpu"'
        yield Report(
            event.site,
            f"{event.function}() puts tensors back on the device that they were saved from, and "
            f"fails on a machine without it: pass map_location={where}",
            fix=Rewrite(
                f"Add `map_location={where}`",
                (AddKeyword(event.site, "map_location", where),),
            ),
            anywhere=True,
        )

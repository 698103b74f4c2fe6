"""The rule about checkpoints that can only be loaded where they were saved."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.events import Load, LoadUse
from devicelint.finding import Safety, Severity
from devicelint.fixes import AddKeyword, Change, Replace, Rewrite
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules._base import Report, Reports, Rule

_CPU = '"cpu"'


class LoadWithoutMapLocation(Rule):
    """A checkpoint is loaded without map_location."""

    code = "DEV303"
    name = "load-without-map-location"
    severity = Severity.WARNING
    summary = (
        "`torch.load()` without `map_location` fails on a machine without the checkpoint's device"
    )
    unfixed = "the call takes no map_location"

    def on_load(self, event: Load, context: RuleContext) -> Reports:
        """The device that the code has at hand is the one to load to, else the CPU."""
        assert isinstance(event.site, cst.Call)
        where = event.device or _CPU
        if LoadUse.RANDOM_STATE in event.uses:
            where = _CPU
        yield Report(
            event.site,
            f"{context.code(event.site.func)}() restores tensors to the device they were saved "
            f"from, and fails on a machine without it: pass map_location={where}",
            fix=_map_location(event, where),
            anywhere=True,
        )


def _map_location(event: Load, where: str) -> Rewrite:
    """Safe, unless it leaves a whole model on the CPU that was on an accelerator before."""
    copied = LoadUse.WEIGHTS in event.uses and LoadUse.MODEL not in event.uses
    safety = Safety.SAFE if copied or where != _CPU else Safety.UNSAFE
    stays = (
        "" if safety is Safety.SAFE else ": what it loads then stays on the CPU until you move it"
    )
    return Rewrite(f"Add `map_location={where}`{stays}", (_argument(event, where),), safety)


def _argument(event: Load, where: str) -> Change:
    site = event.site
    assert isinstance(site, cst.Call)
    for argument in site.args[event.position : event.position + 1]:
        if argument.keyword is None:
            return Replace(argument.value, where)
    return AddKeyword(site, "map_location", where)

"""A program trains on the CPU alone: nothing in it chooses a device."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.history import Site
from devicelint.domain.training_events import CpuOnly, FixedToCpu
from devicelint.finding import Severity
from devicelint.fixes import (
    AddKeyword,
    Change,
    DefineDevice,
    InsertAfter,
    Rewrite,
)
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.interpreter.suggestions.device_parameters import HandedDown
from devicelint.rules import _clashes as clashes
from devicelint.rules import _move_fixes as moving
from devicelint.rules._base import Report, Reports, Rule
from devicelint.rules._device_definition import chosen_in_place
from devicelint.rules._device_parameters import ways_of


class CpuOnlyScript(Rule):
    """`model = Net()` is trained in a program that names no device."""

    code = "DEV702"
    name = "cpu-only-script"
    severity = Severity.NOTE
    summary = "A program trains on the CPU because it never chooses a device"
    default = False
    adopts = True

    def on_cpu_only(self, event: CpuOnly, context: RuleContext) -> Reports:
        """All that is trained moves at once, and each part is reported."""
        device = event.name or "device"
        advice = f"choose a `{device}`, " + (
            f"and move it and its inputs there with `.to({device})`"
            if event.is_module
            else f"and create it there with `device={device}`, like the values combined with it"
        )
        yield Report(
            event.site,
            f"{clashes.quoted(context, event.site)} is on the CPU on every machine: {advice}",
            fix=_adopted(event, context),
            anywhere=True,
        )

    def on_fixed_to_cpu(self, event: FixedToCpu, context: RuleContext) -> Reports:
        """The literal becomes a choice."""
        assert isinstance(event.site, cst.SimpleString)
        chosen = chosen_in_place(context, event.site, "cuda")
        fix = None
        if chosen is not None:
            fix = Rewrite("Choose the device at run time", chosen, begins=True)
        yield Report(
            event.site,
            f"`{event.name}` is the CPU on every machine: choose it at run time",
            fix=fix,
            anywhere=True,
        )


def _adopted(event: CpuOnly, context: RuleContext) -> Rewrite | None:
    if event.name is None:
        return None
    ways = [_way_to(context, site, event.name) for site, _ in event.parts]
    if all(way is not None for way in ways):
        defined = DefineDevice(event.name, file=context.leading_file)
    else:
        defined, ways = DefineDevice(event.name), [None for _ in ways]
    changes: list[Change] = [defined]
    for (site, is_module), way in zip(event.parts, ways, strict=True):
        changes += () if way is None else ways_of(way)
        changes.append(_moved(site, is_module, event.name if way is None else way.code))
    return Rewrite(
        f"Choose one `{event.name}`, and move everything that is trained there",
        tuple(changes),
        begins=True,
    )


def _way_to(context: RuleContext, site: Site, name: str) -> HandedDown | None:
    """How the device gets to where a part is built: in another file, maybe."""
    made = context.where_made(site)
    return None if made is None else made.moves.handed_down(name)


def _moved(site: Site, is_module: bool, device: str) -> Change:
    assert isinstance(site, cst.Call)
    if is_module or not moving.takes_device(site):
        return InsertAfter(site, f".to({device})")
    return AddKeyword(site, "device", device)

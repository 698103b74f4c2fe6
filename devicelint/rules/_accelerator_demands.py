"""Demands for an accelerator: which ones contradict the code around, and how to fix them."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.devices import Device, Known
from devicelint.domain.events import AcceleratorDemanded
from devicelint.domain.history import Site
from devicelint.fixes import Rewrite, asks_for
from devicelint.interpreter.facts.named_devices import NamedDevice
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules import _clashes as clashes
from devicelint.rules._base import Report, Reports
from devicelint.rules._device_definition import Demand, choose_in_place, use_device

_AtHand = tuple[NamedDevice, ...] | None
_HARDWARE = {"cuda": "CUDA", "mps": "an Apple GPU", "xpu": "an Intel GPU"}
"""What a machine lacks, in words; other accelerators go by their type."""


def lacking(device: Device) -> str:
    """What a machine lacks that has no such device."""
    kind = device.type if isinstance(device, Known) else str(device)
    return _HARDWARE.get(kind, kind)


class Demands:
    """The demands that nothing guards: those that contradict the code around, or the others."""

    def __init__(self, *, contradicting: bool) -> None:
        self._contradicting = contradicting
        self._devices: set[Known] = set()
        self._at_hand: dict[Site, _AtHand] = {}

    def reports(self, event: AcceleratorDemanded, context: RuleContext) -> Reports:
        """A literal, or `.cuda()`, that no condition guards; other machines show what holds it."""
        assert isinstance(event.device, Known)
        kind = event.device.type
        if asks_for(kind) is None or context.intent.imports_for(kind):
            return
        at_hand = context.names.devices_at_hand(event.site, event.use, event.device)
        if event.site in self._at_hand:
            at_hand = _in_both(self._at_hand[event.site], at_hand)
        self._at_hand[event.site] = at_hand
        self._devices.add(event.device)
        if context.world.accelerators or not self._is_reported(event, context, at_hand):
            return
        advice, fix = _fix_of(Demand(event, context, frozenset(self._devices)), at_hand)
        hardware = lacking(event.device)
        is_here = context.source.encloses(event.use, event.site)
        yield Report(
            where_named(event.site, context),
            f"{clashes.quoted(context, event.site)} "
            f"{'moves nothing' if event.is_idle else 'fails'} on a machine without {hardware}: "
            f"{advice}",
            () if is_here else ((event.use, "used here"),),
            fix=fix,
        )

    def _is_reported(
        self, event: AcceleratorDemanded, context: RuleContext, at_hand: _AtHand
    ) -> bool:
        """Whether the demand is for this rule, which has those that contradict, or the others."""
        if event.is_idle:
            chosen = any(named.literal is None for named in at_hand or ())
            return chosen and not self._contradicting
        is_against = contradicts(context, at_hand, at_times=event.at_times)
        return is_against is self._contradicting


def where_named(site: Site, context: RuleContext) -> Site:
    """Where an accelerator is named: of a call over several lines, `cuda` itself."""
    match site:
        case cst.Call(func=cst.Attribute(value=owner, attr=name)) if "\n" in context.code(owner):
            return name
        case _:
            return site


def contradicts(context: RuleContext, at_hand: _AtHand, *, at_times: bool) -> bool:
    """Whether the code shows that it is for a machine without that accelerator, too."""
    is_chosen = any(named.literal is None for named in at_hand or ())
    return context.intent.contradicts(is_chosen=is_chosen, at_times=at_times)


def _in_both(one: _AtHand, other: _AtHand) -> _AtHand:
    """What is at hand however the place is reached."""
    if one is None or other is None:
        return None
    return tuple(named for named in other if named in one)


def _fix_of(demand: Demand, at_hand: _AtHand) -> tuple[str, Rewrite | None]:
    check = asks_for(demand.spelled.partition(":")[0])
    if at_hand is None or demand.names_itself:
        return f"choose it with {check}", choose_in_place(demand)
    if not (demand.event.literal or demand.event.how.startswith(".")):
        return f"create it with device=, chosen with {check}", None
    code, fix = use_device(demand, at_hand)
    written = f"`{code}`" if demand.event.literal else f"`.to({code})`"
    if at_hand:
        return f"use {written} instead", fix
    return f"choose one `{code}` with {check}, and use {written}", fix

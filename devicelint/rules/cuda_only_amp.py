"""Automatic mixed precision that is written for CUDA, beside a device that may be another."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devicelint.domain.api_events import AmpForOneDevice
from devicelint.finding import Severity
from devicelint.fixes import AddKeyword, Change, Replace, Rewrite
from devicelint.interpreter.facts.named_devices import NamedDevice
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.interpreter.torch.cuda_api import ENABLED_AT
from devicelint.rules._base import Report, Reports, Rule

_NEW_SCALER = (2, 3)
"""The release of torch that brought `torch.amp.GradScaler`."""
_DEPRECATED = (2, 4)
"""The release of torch that deprecated `torch.cuda.amp`."""
_OLD_ORDER = {
    "autocast": ("enabled", "dtype", "cache_enabled"),
    "GradScaler": ("init_scale", "growth_factor", "backoff_factor", "growth_interval", "enabled"),
}
"""The parameters of what `torch.cuda.amp` has, in their order."""


class CudaOnlyAmp(Rule):
    """`torch.cuda.amp.autocast()` beside `device = "cuda" if … else "cpu"`."""

    code = "DEV404"
    name = "cuda-only-amp"
    severity = Severity.WARNING
    summary = "Mixed precision is hard-coded for CUDA where the device may be another"
    default = False
    adopts = True

    def __init__(self) -> None:
        self._with_index: set[str] = set()
        """What may say more than a type on a machine with an accelerator, such as "cuda:0"."""

    def on_amp_for_one_device(self, event: AmpForOneDevice, context: RuleContext) -> Reports:
        """Reached on the machine without CUDA, where a variable holds the device that is used."""
        last = event.name.rpartition(".")[2]
        at_hand = context.names.devices_at_hand(event.site, event.site, event.device) or ()
        if context.world.accelerators:
            self._with_index |= {one.code for one in at_hand if not one.is_type}
            return
        if last == "GradScaler" and not self.may_use(_NEW_SCALER):
            return
        named = next((one for one in at_hand if one.literal is None), None)
        if named is None:
            return
        call = event.site
        assert isinstance(call, cst.Call)
        device = _type_of(named, is_type=named.is_type and named.code not in self._with_index)
        is_scaler = last == "GradScaler"
        instead = f"torch.{'amp.GradScaler(' if is_scaler else 'autocast(device_type='}{device})"
        old = event.name.startswith("torch.cuda.amp.") and self.may_use(_DEPRECATED)
        yield Report(
            call,
            f"{context.code(call.func)}() is for CUDA, but `{named.code}` may be another device, "
            f"where it only warns{' (deprecated since torch 2.4)' * old}: "
            f"use {instead}",
            fix=_fix_of(event, call, device, context),
        )


def _type_of(named: NamedDevice, *, is_type: bool) -> str:
    """An expression for the device's type, whether it is held as a string or as a device."""
    if is_type:
        return named.code
    return f"{named.code}.type" if named.is_object else f"torch.device({named.code}).type"


def _fix_of(
    event: AmpForOneDevice, call: cst.Call, device: str, context: RuleContext
) -> Rewrite | None:
    """On CUDA nothing changes, and nor does it elsewhere: it stays off there, and says so."""
    torch = context.names.torch_name()
    if torch is None or any(one.star for one in call.args):
        return None
    device = device.replace("torch.", f"{torch}.", 1) if device.startswith("torch.") else device
    given = _given(event, call)
    enabled = _enabled(given, device, context)
    changes: tuple[Change, ...]
    if event.argument is not None:
        assert isinstance(event.argument, cst.CSTNode)
        switch = (
            AddKeyword(call, "enabled", enabled) if given is None else Replace(given.value, enabled)
        )
        changes = (Replace(event.argument, device), switch)
    elif event.name.startswith("torch.cuda."):
        changes = (Replace(call, _written_anew(event, call, (device, enabled), torch, context)),)
    else:
        return None
    return Rewrite(f"Use `{device}`, and keep it disabled on the CPU", changes)


def _given(event: AmpForOneDevice, call: cst.Call) -> cst.Arg | None:
    """The argument that switches it on."""
    for index, one in enumerate(call.args):
        named = None if one.keyword is None else one.keyword.value
        if named == "enabled" or (named is None and index == ENABLED_AT[event.name]):
            return one
    return None


def _enabled(given: cst.Arg | None, device: str, context: RuleContext) -> str:
    """`device.type != "cpu"`, and what switched it on before."""
    there = f'{device} != "cpu"'
    if given is None or context.code(given.value) == "True":
        return there
    before = context.code(given.value)
    plain = isinstance(given.value, (cst.Attribute, cst.Call, cst.Name, cst.Subscript))
    return f"{before if plain else f'({before})'} and {there}"


def _written_anew(
    event: AmpForOneDevice, call: cst.Call, amp: tuple[str, str], torch: str, context: RuleContext
) -> str:
    """`torch.cuda.amp.autocast(dtype=…)` → `torch.autocast(device_type=…, dtype=…, enabled=…)`."""
    last = event.name.rpartition(".")[2]
    device, enabled = amp
    kept = {**dict(_keywords(call, _OLD_ORDER[last], context)), "enabled": enabled}
    written = (f"{name}={value}" for name, value in kept.items())
    if last == "autocast":
        return f"{torch}.autocast({', '.join([f'device_type={device}', *written])})"
    return f"{torch}.amp.GradScaler({', '.join([device, *written])})"


def _keywords(
    call: cst.Call, order: tuple[str, ...], context: RuleContext
) -> Iterator[tuple[str, str]]:
    for name, one in zip((*order, *order), call.args, strict=False):
        yield name if one.keyword is None else one.keyword.value, context.code(one.value)

"""Strings that `torch.device` refuses, and what was meant by them."""

from __future__ import annotations

import re

import libcst as cst

from devicelint.domain.devices import InvalidDevice, Known, is_accelerator, parse_device
from devicelint.domain.events import AcceleratorDemanded, InvalidDeviceNamed
from devicelint.finding import Severity
from devicelint.fixes import Replace, Rewrite
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules._base import Report, Reports, Rule
from devicelint.rules._device_definition import Demand, choose_in_place, use_device


class InvalidDeviceString(Rule):
    """A string that `torch.device` refuses."""

    code = "DEV406"
    name = "invalid-device-string"
    severity = Severity.ERROR
    summary = "A device string that torch rejects, such as `gpu` instead of `cuda`"
    unfixed = "no device has a similar name"

    def on_invalid_device_named(self, event: InvalidDeviceNamed, context: RuleContext) -> Reports:
        """The string is wrong on every machine."""
        dtype = _DTYPE.fullmatch(event.text)
        meant = meant_device(event.text)
        advice = ""
        if dtype is not None:
            advice = f": write the dtype as torch.{dtype[1]}"
        elif meant is not None:
            advice = f": write {str(meant)!r}"
        yield Report(
            event.site,
            f"{event.text!r} is not a device that torch knows{advice}",
            ()
            if context.source.encloses(event.use, event.site)
            else ((event.use, "used as a device here"),),
            fix=None if meant is None else _correct(context, event, meant),
            anywhere=True,
        )


_DTYPE = re.compile(
    r"(?:torch\.)?(b?float(?:16|32|64)?|double|half|u?int(?:8|16|32|64)?|long|bool)"
)
_MISNAMED = {"gpu": "cuda", "nvidia": "cuda", "metal": "mps"}


def meant_device(text: str) -> Known | None:
    """The device that was meant, where only one can be.

    >>> meant_device("GPU: 0")
    Known(type='cuda', index=0)
    """
    kind, colon, index = re.sub(r"\s", "", text.lower()).partition(":")
    kind = _MISNAMED.get(kind, kind)
    if kind[:4] == "cuda" and kind[4:].isdigit() and not colon:
        kind, colon, index = "cuda", ":", kind[4:]
    try:
        return parse_device(f"{kind}{colon}{index}")
    except InvalidDevice:
        return None


def _correct(context: RuleContext, event: InvalidDeviceNamed, meant: Known) -> Rewrite | None:
    """The right name; where nothing guards it, chosen by what the machine has."""
    site = event.site
    if not isinstance(site, cst.SimpleString):
        return None
    if is_accelerator(meant) and not event.chosen:
        demand = Demand(
            AcceleratorDemanded(site, meant, "", True, event.use), context, frozenset({meant})
        )
        at_hand = (
            None if demand.names_itself else context.names.devices_at_hand(site, event.use, meant)
        )
        fix = use_device(demand, at_hand)[1] if at_hand else choose_in_place(demand)
        if fix is not None:
            return fix
    return Rewrite(
        f"Write {str(meant)!r}", (Replace(site, f"{site.prefix}{site.quote}{meant}{site.quote}"),)
    )

"""A tensor is made on the CPU on one path, and lies on a device on another."""

from __future__ import annotations

import libcst as cst

from devicelint.domain import training_events
from devicelint.domain.events import Operand
from devicelint.finding import Severity
from devicelint.fixes import AddKeyword, Change, InsertAfter, Rewrite
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules import _clashes as clashes
from devicelint.rules import _move_fixes as moving
from devicelint.rules._base import Report, Reports, Rule


class MadeApartRule(Rule):
    """`return torch.zeros(1, 2)` beside `return model(x)`, which is on the device."""

    code = "DEV705"
    name = "made-apart"
    severity = Severity.NOTE
    summary = "A tensor is on the CPU on one code path and on another device on the other"
    default = False
    adopts = True
    preview = True

    def on_made_apart(self, event: training_events.MadeApart, context: RuleContext) -> Reports:
        """What both paths lead to is on one device, once the tensor is made there."""
        made, other = context.where_made(event.site), event.other
        spelled = None if made is None else made.moves.spelling(other.device)
        if spelled is None:
            return
        met = Operand(other.since.site, other, other.device, other.since)
        yield Report(
            event.site,
            f"{clashes.quoted(context, event.site)} is created on the CPU, but its counterpart on "
            f"another code path is on {clashes.place(met)}{clashes.since(met, 0)}: "
            f"{moving.how_to_create(event.site)}",
            clashes.history(met),
            fix=Rewrite(f"Create it on `{spelled}`", (_made_there(event.site, spelled),)),
        )


def _made_there(site: object, device: str) -> Change:
    assert isinstance(site, cst.Call)
    if moving.takes_device(site):
        return AddKeyword(site, "device", device)
    return InsertAfter(site, f".to({device})")

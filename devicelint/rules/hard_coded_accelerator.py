"""Code that goes to an accelerator where the rest of it provides for a machine without one."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.api_events import AcceleratorMet
from devicelint.domain.events import AcceleratorDemanded
from devicelint.finding import Certainty, Severity
from devicelint.fixes import Rewrite
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules import _clashes as clashes
from devicelint.rules._accelerator_demands import Demands
from devicelint.rules._base import Report, Reports, Rule
from devicelint.rules._device_definition import Demand, in_its_place


class HardCodedAccelerator(Rule):
    """`.cuda()` beside `device = "cuda" if torch.cuda.is_available() else "cpu"`."""

    code = "DEV401"
    name = "hard-coded-accelerator"
    severity = Severity.WARNING
    summary = "Hard-coded `cuda` crashes on the CPU-only machines this code otherwise supports"
    unfixed = "no chosen device is available here: `devicelint adopt` adds one"

    def __init__(self) -> None:
        self._demands = Demands(contradicting=True)

    def on_accelerator_demanded(self, event: AcceleratorDemanded, context: RuleContext) -> Reports:
        """What contradicts the choice that the code else has, where nothing may fail before."""
        reports = tuple(self._demands.reports(event, context))
        if self.asked_for or not context.intent.is_doubted():
            yield from reports

    def on_accelerator_met(self, event: AcceleratorMet, context: RuleContext) -> Reports:
        """What meets the caller's tensors has to go where these are."""
        met, sent = event.met, event.sent
        spelled = _spelled(event, context)
        yield Report(
            event.site,
            f"{clashes.quoted(context, event.use)} goes to {sent.device}, but is combined with "
            f"{clashes.quoted(context, met.site)}, whose device the caller chooses: "
            f"{_advice(spelled)}",
            ((event.failing, "combined here"), *clashes.history(met)),
            certainty=Certainty.CONTRACT,
            fix=_follow(event, context, spelled),
            fails_without=not event.is_guarded,
        )


def _spelled(event: AcceleratorMet, context: RuleContext) -> str | None:
    """The device of what is met, as it can be written where the accelerator is named."""
    made = context.where_made(event.use)
    return None if made is None else made.moves.spelling(event.met.device)


def _advice(spelled: str | None) -> str:
    return "use that device instead" if spelled is None else f"use `{spelled}` instead"


def _follow(event: AcceleratorMet, context: RuleContext, spelled: str | None) -> Rewrite | None:
    """`x + table.cuda()` → `x + table.to(x.device)`."""
    is_literal = event.site is not event.use
    if spelled is None or not context.source.encloses(event.use, event.site):
        return None
    if not is_literal and not _is_method(event.use):
        return None
    demanded = AcceleratorDemanded(event.site, event.sent.device, ".", is_literal, event.use)
    demand = Demand(demanded, context, frozenset())
    return Rewrite(f"Use `{spelled}`", (in_its_place(demand, spelled),))


def _is_method(call: object) -> bool:
    """Whether this is `x.cuda()`, and not a call that makes something."""
    match call:
        case cst.Call(func=cst.Attribute(attr=cst.Name("cuda" | "xpu"))):
            return True
        case _:
            return False

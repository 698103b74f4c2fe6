"""The note about tensors that go to the host and straight back."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.devices import CPU, Device
from devicelint.domain.events import Transfer
from devicelint.domain.history import Site, Verb
from devicelint.domain.values import Batch, Tensor
from devicelint.finding import Safety, Severity
from devicelint.fixes import Keep, Rewrite
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules import _clashes as clashes
from devicelint.rules import _transfers as transfers
from devicelint.rules._base import Report, Reports, Rule, line_of


class RoundTrip(Rule):
    """A tensor is copied to the host and straight back to its device."""

    code = "DEV604"
    name = "round-trip"
    severity = Severity.NOTE
    summary = "A tensor is copied to the CPU and straight back to its device"
    default = False

    def __init__(self) -> None:
        self._left: dict[Site, Transfer] = {}
        """The transfers to the CPU, by their calls."""

    def on_transfer(self, event: Transfer, context: RuleContext) -> Reports:
        """`x.cpu()` and then `.to(device)`, with nothing that needs the host in between."""
        if event.target == CPU:
            self._left[event.site] = event
            return
        receiver = event.receiver
        if not isinstance(receiver, (Tensor, Batch)) or receiver.since.verb is not Verb.MOVED:
            return
        left = self._left.get(receiver.since.site)
        if left is None or receiver.device != CPU or not _returns(left.origin, event.target):
            return
        if not _is_at_once(left, event, context):
            return
        yield Report(
            event.site,
            f"{clashes.quoted(context, event.receiver_site)} was copied from "
            f"{transfers.named(left.origin or CPU)} to the CPU (line {line_of(0)}) and is copied "
            "back: both copies wait for the device",
            ((left.site, "copied to the CPU here"),),
            fix=_stay(left, event),
        )


def _returns(origin: Device | None, target: Device | None) -> bool:
    return origin == target and transfers.goes_to_accelerator(origin)


def _is_at_once(left: Transfer, event: Transfer, context: RuleContext) -> bool:
    """The copy itself or a view of it, or the name that it was given in this function."""
    if _seen_through_views(event.receiver_site) is left.site:
        return True
    bound = context.source.bound_by(event.receiver_site)
    return isinstance(bound, cst.Assign) and bound.value is left.site


_VIEWS = frozenset(
    "view reshape flatten unflatten squeeze unsqueeze permute transpose t expand detach".split()
)


def _seen_through_views(site: Site) -> Site:
    """`x.cpu()` of `x.cpu().view(2, 2)`: the same numbers in another shape."""
    while (
        isinstance(site, cst.Call)
        and isinstance(site.func, cst.Attribute)
        and site.func.attr.value in _VIEWS
    ):
        site = site.func.value
    return site


def _stay(left: Transfer, event: Transfer) -> Rewrite | None:
    """Neither copy; what shares memory then is written to in both places."""
    inner = left.receiver_site
    if event.receiver_site is not left.site or not isinstance(inner, cst.BaseExpression):
        return None
    if len(transfers.call_of(event).args) != 1:
        return None
    message = "Leave it on its device; both names then share its memory"
    return Rewrite(message, (Keep(transfers.call_of(event), inner),), Safety.UNSAFE)

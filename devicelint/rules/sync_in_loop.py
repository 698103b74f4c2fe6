"""The note about training loops in which the host waits for the accelerator in each step."""

from __future__ import annotations

from devicelint.domain.devices import CPU
from devicelint.domain.events import Transfer
from devicelint.domain.history import Site
from devicelint.domain.training_events import HostWaits
from devicelint.domain.values import Batch, Placed, Tensor
from devicelint.finding import Severity
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules import _clashes as clashes
from devicelint.rules import _transfers as transfers
from devicelint.rules._base import Report, Reports, Rule, line_of


class SyncInLoop(Rule):
    """`loss.item()` in each step of a training loop."""

    code = "DEV602"
    name = "sync-in-loop"
    severity = Severity.NOTE
    summary = "A training loop reads a value in every step, which makes it wait for the accelerator"
    default = False

    def on_host_waits(self, event: HostWaits, context: RuleContext) -> Reports:
        """`loss.item()`, `float(loss)`, `print(loss)`, `if loss > 3:`."""
        yield from _report(event.site, context)

    def on_transfer(self, event: Transfer, context: RuleContext) -> Reports:
        """`x.cpu()`, of what is on an accelerator."""
        moved = isinstance(event.receiver, (Tensor, Batch, Placed))
        if moved and event.target == CPU and transfers.goes_to_accelerator(event.origin):
            yield from _report(event.site, context)


def _report(site: Site, context: RuleContext) -> Reports:
    loop = context.source.training_loop(site)
    if loop is None:
        return
    yield Report(
        site,
        f"{clashes.quoted(context, site)} waits for the accelerator in every step of the loop "
        f"(line {line_of(0)}): keep the tensor there with .detach(), and read it only every few "
        "steps",
        ((loop, "the training loop"),),
    )

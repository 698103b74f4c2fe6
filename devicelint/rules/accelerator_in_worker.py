"""The workers of a DataLoader use an accelerator."""

from __future__ import annotations

from devicelint.domain.data_events import AcceleratorInWorker
from devicelint.domain.events import Operand
from devicelint.domain.values import HOST
from devicelint.finding import Severity
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules import _clashes as clashes
from devicelint.rules._base import Report, Reports, Rule, line_of


class AcceleratorInWorkers(Rule):
    """A forked worker cannot use the accelerator that its parent uses."""

    code = "DEV501"
    name = "accelerator-in-worker"
    severity = Severity.ERROR
    summary = "A dataset or collate function uses an accelerator in a forked worker process"
    unfixed = "the training loop, not the worker, needs to move the batch"

    def on_accelerator_in_worker(self, event: AcceleratorInWorker, context: RuleContext) -> Reports:
        """The data are to stay on the CPU until they come out of the loader."""
        place = clashes.place(Operand(event.site, HOST, event.device))
        yield Report(
            event.site,
            f"{clashes.quoted(context, event.site)} uses {place}, but `{event.function}` runs in "
            f"the worker processes of the DataLoader on line {line_of(0)}, which cannot use it: "
            "move the batch in the training loop instead",
            ((event.loader, "the DataLoader with these workers"),),
        )

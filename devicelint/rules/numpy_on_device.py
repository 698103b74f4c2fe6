"""The rule about `.numpy()`."""

from __future__ import annotations

from devicelint.domain.events import HostRead
from devicelint.finding import Severity
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules import _host_reads as reads
from devicelint.rules._base import Reports, Rule


class NumpyOnDevice(Rule):
    """`.numpy()` on an accelerator tensor without `.cpu()`."""

    code = "DEV201"
    name = "numpy-on-device"
    severity = Severity.ERROR
    summary = "`.numpy()` is called on an accelerator tensor without `.cpu()`"
    unfixed = "the tensor is not an expression of its own there"

    def on_host_read(self, event: HostRead, context: RuleContext) -> Reports:
        """The tensor has to be copied to the CPU first, and detached where it requires grad."""
        if event.reader != reads.NUMPY:
            return
        yield reads.report(context, event, ".numpy() only reads CPU memory")

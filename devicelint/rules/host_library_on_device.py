"""The rule about numpy, scikit-learn, matplotlib and their like."""

from __future__ import annotations

from devicelint.domain.events import HostRead
from devicelint.finding import Severity
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules import _host_reads as reads
from devicelint.rules._base import Reports, Rule


class HostLibraryOnDevice(Rule):
    """An accelerator tensor is passed to numpy, scikit-learn, matplotlib, pandas or scipy."""

    code = "DEV202"
    name = "host-library-on-device"
    severity = Severity.ERROR
    summary = "An accelerator tensor is passed to NumPy, scikit-learn or another CPU-only library"
    unfixed = "the tensor is not an expression of its own there"

    def on_host_read(self, event: HostRead, context: RuleContext) -> Reports:
        """The library would convert the tensor by itself, which only works on the CPU."""
        if event.reader == reads.NUMPY:
            return
        if event.is_sent:
            problem = f"{event.reader} sends it over RPC, which only supports accelerators with"
            yield reads.report(context, event, f"{problem} device maps")
            return
        yield reads.report(
            context, event, f"{event.reader} reads it as a NumPy array, which only works on the CPU"
        )

"""Lengths that pack_padded_sequence cannot read."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.data_events import HostMemoryDemanded
from devicelint.domain.devices import Opaque, may_be_accelerator
from devicelint.finding import Severity
from devicelint.fixes import InsertAfter, Rewrite
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules import _clashes as clashes
from devicelint.rules._base import Report, Reports, Rule


class LengthsNotOnCpu(Rule):
    """pack_padded_sequence reads its lengths on the CPU, wherever the sequences are."""

    code = "DEV109"
    name = "lengths-not-on-cpu"
    severity = Severity.ERROR
    summary = "`pack_padded_sequence()` gets lengths on an accelerator, but needs them on the CPU"
    unfixed = "the lengths are not an expression of their own there"

    def on_host_memory_demanded(self, event: HostMemoryDemanded, context: RuleContext) -> Reports:
        """The lengths are to be copied back to the CPU, or left there."""
        lengths = event.operand
        is_packed = event.operation.endswith("pack_padded_sequence")
        if not is_packed or not may_be_accelerator(lengths.device):
            return
        chosen = isinstance(lengths.device, Opaque)
        unless = f" (unless `{lengths.device}` is the CPU)" if chosen else ""
        assert isinstance(lengths.site, cst.CSTNode)
        yield Report(
            lengths.site,
            f"{clashes.quoted(context, lengths.site)} is on {clashes.place(lengths)}"
            f"{clashes.since(lengths, 0)}{unless}, but pack_padded_sequence() needs lengths on "
            "the CPU: call .cpu() first",
            clashes.history(lengths),
            severity=Severity.WARNING if chosen else None,
            fix=Rewrite("Insert `.cpu()`", (InsertAfter(lengths.site, ".cpu()"),)),
        )

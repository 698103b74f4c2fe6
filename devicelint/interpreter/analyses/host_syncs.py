"""Values of an accelerator that Python asks for: it waits until they are worked out."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.training_events import HostWaits
from devicelint.interpreter.engine.arguments import Argument
from devicelint.interpreter.engine.hooks import Analysis, analysis
from devicelint.interpreter.facts.named_devices import is_sent_to_accelerator
from devicelint.interpreter.torch.operations.operands import operand_of


@analysis
class HostSyncs(Analysis):
    """Looks for what Python reads, of what an accelerator works out."""

    serves = frozenset({HostWaits})

    def on_read(self, given: Argument, site: cst.CSTNode) -> None:
        """Python needs a number that an accelerator works out; `site` is what asks for it."""
        if not self.run.frame.loops:
            return
        operand = operand_of(given.value, given.site)
        if operand is not None and is_sent_to_accelerator(operand.device):
            self.run.announce(HostWaits(site, operand))

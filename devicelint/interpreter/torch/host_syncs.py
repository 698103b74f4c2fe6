"""Values of an accelerator that Python asks for: it waits until they are worked out."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.training_events import HostWaits
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.suggestions.device_names import may_be_accelerator
from devicelint.interpreter.torch.operands import operand_of

READS = frozenset({"item", "tolist"})
"""Methods of a tensor that give numbers."""
FUNCTIONS = frozenset(f"builtins.{name}" for name in "float int bool print format".split())
"""Functions of Python that need what a tensor holds."""


def wait_for(run: Run, given: Argument, site: cst.CSTNode) -> None:
    """Python needs a number that an accelerator works out; `site` is what asks for it."""
    if not run.frame.loops:
        return
    operand = operand_of(given.value, given.site)
    if operand is not None and may_be_accelerator(operand.device):
        run.announce(HostWaits(site, operand))


def wait_for_arguments(run: Run, arguments: Arguments, site: cst.CSTNode) -> None:
    """`print(x, y)`, `float(x)`."""
    for argument in arguments:
        wait_for(run, argument, site)

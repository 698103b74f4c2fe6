"""Which operands have clashed on a path: where they meet again, that line is not reached."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.events import Operand
from devicelint.interpreter.engine.run import Run


def is_met_again(run: Run, culprit: Operand, reference: Operand) -> bool:
    """Whether a line before in a function has failed for the same two; from now on, one has.

    In the body of a file it may be another cell, which is run all the same.
    """
    if culprit.since is None or run.muted_parts or isinstance(run.frame.node, cst.Module):
        return False
    pair = culprit.since, reference.device
    is_again = pair in run.state.clashed
    run.state.clashed |= {pair}
    return is_again

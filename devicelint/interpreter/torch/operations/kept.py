"""What a Module was given as it was made and keeps as a plain tensor, where it meets its inputs.

`.to()` moves the Module and leaves the tensor where its maker had it.
"""

from __future__ import annotations

from collections.abc import Sequence

from devicelint.domain.devices import Agreement, DeviceOf
from devicelint.domain.events import Clash, MixedOperation, Operand
from devicelint.domain.history import Site
from devicelint.domain.values import Tensor
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.module_inputs import is_in_module
from devicelint.interpreter.python.paths.device_questions import are_one_here
from devicelint.interpreter.torch.operations.clashed import is_met_again
from devicelint.interpreter.torch.operations.excuses import CLASH
from devicelint.interpreter.torch.operations.verdicts import is_kept_of_maker, judged


def note_kept(run: Run, site: Site, what: str, operands: Sequence[Operand]) -> None:
    """Announce a tensor of a Module's maker that meets what a caller gives, or the Module has."""
    if not is_in_module(run) or not run.frame.is_checked:
        return
    kept = next(filter(_may_stay_behind, operands), None)
    if kept is None:
        return
    met = next((one for one in operands if _may_be_elsewhere(run, kept, one)), None)
    if met is None:
        return
    standing = judged(run, site, what, (kept, met), CLASH)
    if standing is None:
        return
    verdict, follows = Agreement.DIFFERENT_UNLESS_CHOSEN, is_met_again(run, kept, met)
    clash = Clash(kept, met, verdict, site, run.frame, standing=standing, follows=follows)
    run.announce(MixedOperation(site, what, clash))


def _may_stay_behind(operand: Operand) -> bool:
    """Whether it is such a tensor, with dimensions as far as anybody knows."""
    value = operand.value
    return is_kept_of_maker(operand) and isinstance(value, Tensor) and value.scalar is not True


def _may_be_elsewhere(run: Run, kept: Operand, other: Operand) -> bool:
    """Whether another operand follows the Module or its callers, and not who made it."""
    if not isinstance(other.device, DeviceOf) or other.since is None:
        return False
    if other.since.kept is not None or other.device.is_unseen:
        return False
    return other.device != kept.device and not are_one_here(run, kept.device, other.device)

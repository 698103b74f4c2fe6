"""An accelerator that the code names, where it meets what a caller may have anywhere.

`x + table.cuda()` fails for an `x` on the CPU, and for one on another GPU.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from devicelint.domain.api_events import AcceleratorMet
from devicelint.domain.devices import DeviceOf, is_accelerator
from devicelint.domain.events import Operand
from devicelint.domain.history import Site
from devicelint.domain.values import Module, Tensor
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.host_callers import is_of_parallel_wrapper
from devicelint.interpreter.facts.machines.around import (
    is_asked_by_users,
    is_chosen_beside,
    is_left_open,
    is_taken_by_some,
)
from devicelint.interpreter.python.paths.device_questions import (
    are_one_here,
    is_accelerator_here,
)
from devicelint.interpreter.torch.devices.written_out import WrittenOut
from devicelint.interpreter.torch.operations.excuses import NAMED
from devicelint.interpreter.torch.operations.verdicts import judged


def note_met(run: Run, site: Site, what: str, operands: Sequence[Operand]) -> None:
    """Announce what goes to a named accelerator here, and meets what came from outside."""
    received = [one for one in operands if isinstance(one.device, DeviceOf)]
    if not received:
        return
    named = run.notes(WrittenOut)
    if is_of_parallel_wrapper(run):
        return
    for sent in operands:
        if sent.since is None or not is_accelerator(sent.device):
            continue
        if is_taken_by_some(run) and not is_chosen_beside(run):
            continue
        if _is_own(sent):
            continue
        name = named.names.get(sent.since.site) or _guarded(run, named, sent)
        if name is None or name in named.current:
            continue
        met = next(_apart(run, sent, received), None)
        if met is None:
            continue
        standing = judged(run, site, what, (sent, met), NAMED)
        if standing is not None:
            use = sent.since.site
            is_guarded = use not in named.names
            run.announce(AcceleratorMet(name, use, sent, met, site, standing, is_guarded))


def _guarded(run: Run, named: WrittenOut, sent: Operand) -> Site:
    """A call that sends a tensor to an accelerator wherever there is one, where others may not."""
    since = sent.since
    if since is None or since.site not in named.guarded or not isinstance(sent.value, Tensor):
        return None
    return since.site if is_left_open(run) and not is_asked_by_users(run) else None


def _is_own(sent: Operand) -> bool:
    """Whether an object keeps it there, or has gone there itself: that is where its callers go."""
    is_kept = sent.since is not None and sent.since.kept is not None
    return is_kept or isinstance(sent.value, Module)


def _apart(run: Run, sent: Operand, received: Sequence[Operand]) -> Iterator[Operand]:
    """What nothing on this path has shown to be on an accelerator."""
    for one in received:
        if not (are_one_here(run, sent.device, one.device) or is_accelerator_here(run, one.device)):
            yield one

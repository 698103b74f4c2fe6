"""What a function learns with: its tensors lie where a model does.

What the functions of neural networks compute with, and what is to have a gradient, comes from a
model or goes into one; so does what meets a Module's own tensors.  What is said of one parameter of
a function is said of those beside it, which come from the same caller.
"""

from __future__ import annotations

from collections.abc import Iterable

from devicelint.domain.devices import DeviceOf
from devicelint.domain.events import Operand
from devicelint.domain.history import Step
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.module_inputs import is_input_of_module
from devicelint.interpreter.facts.movable import received_by
from devicelint.interpreter.facts.tensor_parameters import confirm

_NEURAL = "torch.nn.functional."


def note_learned_with(run: Run, since: Step | None) -> None:
    """Note that models compute with what a step gave."""
    learning = run.program.conduct.learning
    if since is None or (since.site in learning and run.frame.node in learning):
        return
    learning.update(received_by(run, since))


def note_called_with(run: Run, name: str, operands: Iterable[Operand]) -> None:
    """Note what a function of torch is called with: no arrays; and what models compute with.

    What is not seen need not lie where the function's own tensors do.
    """
    if not name.startswith("torch."):
        return
    is_neural = name.startswith(_NEURAL)
    for one in operands:
        device = one.device
        if isinstance(device, DeviceOf):
            confirm(run, device.place)
            if is_neural and not device.is_unseen and not is_input_of_module(run, device):
                note_learned_with(run, one.since)


def note_beside_module(run: Run, operands: Iterable[Operand]) -> None:
    """Note what is bound to be where a Module is, as it meets what that owns or is called with."""
    here: list[Operand] = []
    elsewhere: list[Operand] = []
    for one in operands:
        if isinstance(one.device, DeviceOf):
            (here if is_input_of_module(run, one.device) else elsewhere).append(one)
    for one in elsewhere if here else ():
        note_learned_with(run, one.since)

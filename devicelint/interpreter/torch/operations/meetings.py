"""What an operation shows that works: its operands share a device.

Where one of them is on an accelerator, or where the program chose, something that is not seen lies
there as well.  The CPU shows nothing of the kind: that would be the mistake itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from devicelint.domain.devices import (
    Agreement,
    Device,
    DeviceOf,
    Opaque,
    agreement,
    is_accelerator,
)
from devicelint.domain.events import Operand
from devicelint.domain.history import Site, Step, Verb
from devicelint.domain.values import Tensor
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.learning import note_beside_module


def note_meeting(run: Run, site: Site, operands: Sequence[tuple[Operand, bool]]) -> None:
    """Operands met without a clash; each comes with whether one without dimensions may differ."""
    unseen = [one for one, mixes in operands if _is_bound_to_share(one, mixes)]
    if not unseen:
        return
    note_beside_module(run, unseen)
    chosen = next((one for one, _ in operands if is_chosen(one.device)), None)
    if chosen is None:
        return
    for one in unseen:
        device = one.device
        assert isinstance(device, DeviceOf)
        if agreement(chosen.device, device) is not Agreement.SAME:
            run.state.meets(device, Step(Verb.MET, site, chosen.device))


def is_chosen(device: Device) -> bool:
    """Whether the program itself says where something is, and that it need not be the CPU."""
    return is_accelerator(device) or (isinstance(device, Opaque) and not device.apart)


def _is_bound_to_share(operand: Operand, mixes: bool) -> bool:
    """A tensor on the CPU without dimensions may meet what is on an accelerator."""
    value = operand.value
    if not isinstance(value, Tensor) or not isinstance(operand.device, DeviceOf):
        return False
    return not mixes or value.scalar is False

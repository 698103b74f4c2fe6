"""Operands of an operation: which devices they are on, and whether those agree."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from devicelint.domain.devices import (
    CPU,
    NOT_UNDERSTOOD,
    NOWHERE,
    Device,
    DeviceOf,
    Known,
    Opaque,
    Unsure,
    agreement,
)
from devicelint.domain.events import Operand
from devicelint.domain.history import Site, Step, Verb
from devicelint.domain.values import Batch, Placed, Symbolic, Tensor, Value
from devicelint.interpreter.python.unseen import is_derived
from devicelint.interpreter.torch.operations.excuses import DIFFERENT


def operand_of(value: Value, site: Site) -> Operand | None:
    """The operand that a value is, where it may be a tensor at all."""
    if isinstance(value, (Tensor, Batch, Placed)):
        return Operand(site, value, value.device, value.since)
    if isinstance(value, Symbolic):
        if value.since is None:
            return Operand(site, value, Unsure(f"{value.origin} is not known"))
        return Operand(site, value, DeviceOf(value.origin), value.since)
    return None


def mixes_as_scalar(operand: Operand) -> bool | None:
    """Whether an operand is a 0-dim tensor on the CPU, which mixes; None: perhaps."""
    apart = isinstance(operand.device, Opaque) and operand.device.apart
    if operand.device != CPU and not apart:
        return False
    return operand.value.scalar if isinstance(operand.value, Tensor) else False


def find_clash(operands: Sequence[tuple[Operand, bool]]) -> tuple[Operand, Operand] | None:
    """The operand to blame and the one it clashes with; each comes with whether 0-dim mixes."""
    firm = [one for one, mixes in operands if not (mixes and mixes_as_scalar(one) is not False)]
    clashing = [
        (one, other) if one.device == CPU else (other, one)
        for one, other in combinations(firm, 2)
        if agreement(one.device, other.device) in DIFFERENT
    ]
    return min(clashing, key=_unseen_among, default=None)


def _unseen_among(pair: tuple[Operand, Operand]) -> int:
    """How many of two operands come from what is not seen: what is known is said first."""
    return sum(map(_is_of_unseen, pair))


def _is_of_unseen(operand: Operand) -> bool:
    return isinstance(operand.device, DeviceOf) and operand.device.is_unseen


def common_device(operands: Sequence[Operand], *, unknown: bool) -> tuple[Device, Step | None]:
    """The device of a result: an accelerator if any operand is on one."""
    for one in operands:
        if isinstance(one.device, Known) and one.device.type != "cpu":
            return one.device, one.since
    firm = _firmly_on_cpu(operands)
    is_away = any(one.device is NOWHERE for one in operands)
    for one in sorted(operands, key=_how_little_is_known):
        if one.device != CPU and not isinstance(one.device, Unsure):
            if _is_of_unseen(one) and (
                is_away or (firm is not None and not is_derived(one.device))
            ):
                break
            if isinstance(one.value, Symbolic) and (unknown or len(operands) > 1):
                return _device_beside_outside(operands, one)
            return one.device, one.since
    if firm is not None:
        return firm.device, firm.since
    unsure = next((one for one in operands if isinstance(one.device, Unsure)), None)
    if unsure is not None:
        return unsure.device, unsure.since
    if unknown or not operands:
        return NOT_UNDERSTOOD, None
    decisive = next((one for one in operands if not _is_kept(one)), operands[0])
    return decisive.device, decisive.since


def _how_little_is_known(operand: Operand) -> int:
    """What the program chose decides, then what it was given, then what is not seen."""
    return isinstance(operand.device, DeviceOf) + _is_of_unseen(operand)


def _firmly_on_cpu(operands: Sequence[Operand]) -> Operand | None:
    """A tensor with dimensions that keeps the result on the CPU, whatever the others are."""
    if any(one.device is NOWHERE for one in operands):
        return None
    on_cpu = (one for one in operands if one.device == CPU)
    return next((one for one in on_cpu if mixes_as_scalar(one) is False), None)


def _is_kept(operand: Operand) -> bool:
    return operand.since is not None and operand.since.kept is not None


def _device_beside_outside(
    operands: Sequence[Operand], outside: Operand
) -> tuple[Device, Step | None]:
    """`x` is not known to be a tensor: where it is a number, the other operand decides."""
    for one in operands:
        if not isinstance(one.value, Symbolic):
            if one.device == CPU and mixes_as_scalar(one) is not False:
                return Unsure(f"{outside.device} may be a number or a tensor"), None
            return one.device, one.since
    return outside.device, outside.since


def grad_of_operands(operands: Sequence[Operand], *, unknown: bool) -> bool | None:
    """Whether a result requires grad: it does if any operand does."""
    values = (operand.value for operand in operands)
    grads = [value.grad if isinstance(value, Tensor) else None for value in values]
    if True in grads:
        return True
    return None if None in grads or unknown else False


def computed(site: Site, device: Device, since: Step | None) -> Step:
    """The history of a result: that of the operand which decides, else its own."""
    return since if since is not None else Step(Verb.COMPUTED, site, device)

"""Values of one place that two paths leave on two devices."""

from __future__ import annotations

from typing import TypeGuard

from devicelint.domain.devices import CPU, DEVICE_TYPES, DeviceOf, Unsure
from devicelint.domain.history import Step, Verb
from devicelint.domain.values import Const, DeviceHandle, ImportedName, Located, Tuple, Value


def loses_device(one: Value, other: Value, joined: Value) -> bool:
    """Whether each path knew the device, and both together do not."""
    if isinstance(one, Tuple) and isinstance(other, Tuple) and isinstance(joined, Tuple):
        return any(map(loses_device, one.items, other.items, joined.items))
    if not (_knows_device(one) and _knows_device(other)):
        return False
    device = getattr(joined, "device", None)
    return device is None or isinstance(device, Unsure)


def keeps_to_cpu(one: Value, other: Value) -> bool | None:
    """Whether the first of two values that differ is the one that a setting keeps on the CPU.

    None: neither or both, or the other one is where a caller's tensor is, and no setting has moved
    it there: it was received, or made there.
    """
    if isinstance(one, Tuple) and isinstance(other, Tuple):
        found = {keeps_to_cpu(*pair) for pair in zip(one.items, other.items, strict=False)} - {None}
        return found.pop() if len(found) == 1 else None
    if _is_callers(one) or _is_callers(other):
        return None
    sides = [_is_on_cpu(value) for value in (one, other)]
    return None if sides[0] is sides[1] else sides[0]


def _is_callers(value: Value) -> bool:
    """Whether a value is where a caller's tensor is, without having been moved there."""
    if not isinstance(getattr(value, "device", None), DeviceOf):
        return False
    since: Step | None = getattr(value, "since", None)
    return since is not None and since.verb is not Verb.MOVED


def _is_on_cpu(value: Value) -> bool:
    if _is_type_of_tensors(value):
        return "cuda" not in value.name.split(".")
    if isinstance(value, Const):
        return value.value == CPU.type
    return getattr(value, "device", None) == CPU


def _is_type_of_tensors(value: Value) -> TypeGuard[ImportedName]:
    """Whether this is `torch.FloatTensor` or `torch.cuda.FloatTensor`: a type that has a device."""
    if not isinstance(value, ImportedName):
        return False
    return value.name.startswith("torch.") and value.name.endswith("Tensor")


def _knows_device(value: Value) -> bool:
    if _is_type_of_tensors(value):
        return True
    if isinstance(value, Const):
        return isinstance(value.value, str) and value.value.partition(":")[0] in DEVICE_TYPES
    return isinstance(value, (Located, DeviceHandle)) and not isinstance(value.device, Unsure)

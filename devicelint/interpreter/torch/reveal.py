"""The one device to show for a value."""

from __future__ import annotations

from devicelint.domain.devices import Device, DeviceOf, Known, Unsure, join_devices
from devicelint.domain.values import (
    Array,
    Batch,
    Const,
    DeviceHandle,
    DictOf,
    Distribution,
    HostValue,
    ListOf,
    Loader,
    Module,
    OneOf,
    Placed,
    Symbolic,
    Tensor,
    TensorDict,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.objects import module_device
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.python.containers.contents import element_in
from devicelint.interpreter.torch.bundles import place_of


def revealed_device(run: Run, value: Value) -> Device:
    """Where a value is; for a container, where all that it holds is."""
    match value:
        case Tensor() | Batch() | Distribution() | Placed() | DeviceHandle():
            return value.device
        case Module():
            return module_device(run, value).device
        case TensorDict():
            return place_of(run, value).device
        case Symbolic(origin):
            return DeviceOf(origin)
        case Loader():
            return revealed_device(run, value.item)
        case Tuple(items) | OneOf(items) if items:
            return _all_of(run, items)
        case ListOf() | DictOf():
            return revealed_device(run, element_in(run, run.state.fields(value.ref)))
        case Const() | HostValue() | Array():
            return HOST_MEMORY
        case Unknown(reason):
            return Unsure(reason)
        case _:
            return Unsure("it has no device")


HOST_MEMORY = Known("host")
"""Where Python's own values and numpy's arrays are."""


def _all_of(run: Run, values: tuple[Value, ...]) -> Device:
    devices = [revealed_device(run, one) for one in values]
    joined = devices[0]
    for device in devices[1:]:
        joined = join_devices(joined, device)
    return joined

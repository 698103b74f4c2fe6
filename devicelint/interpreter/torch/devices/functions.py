"""Calls about devices themselves: those that name one, count them, or set the one to use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import libcst as cst

from devicelint.domain.devices import (
    CPU,
    Device,
    InvalidDevice,
    Known,
    Opaque,
    Unsure,
    parse_device,
)
from devicelint.domain.events import Revealed
from devicelint.domain.values import (
    HOST,
    NONE,
    Const,
    DeviceHandle,
    Flag,
    HostValue,
    Symbolic,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import enters, function
from devicelint.interpreter.facts.machines.asked import note_asked, note_placed
from devicelint.interpreter.python.conditions import AVAILABLE
from devicelint.interpreter.torch.cuda_api import announce_discarded_context
from devicelint.interpreter.torch.devices.arguments import announce_invalid, demand, device_named
from devicelint.interpreter.torch.devices.outside import Backends
from devicelint.interpreter.torch.devices.written_out import note_model
from devicelint.interpreter.torch.reveal import revealed_device


@function(
    "torch.cuda.is_available",
    "torch.accelerator.is_available",
    "torch.cuda.is_initialized",
)
def is_available(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    note_asked(run)
    return Flag(AVAILABLE)


@function(
    "torch.backends.mps.is_available",
    "torch.backends.mps.is_built",
    "torch.mps.is_available",
    "torch.xpu.is_available",
    *(f"torch.{kind}.is_available" for kind in "npu hpu mtia mlu musa".split()),
)
def is_other_available(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """The accelerator of the imagined machines is CUDA's; mps and xpu chains come out the same."""
    note_asked(run)
    return Const(False)


@function("torch.cuda.device_count", "torch.accelerator.device_count")
def device_count(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    run.counts_accelerators = True
    return Const(run.world.accelerators)


@function("torch.accelerator.current_accelerator")
def current_accelerator(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    note_asked(run)
    return DeviceHandle(Known("cuda"), site) if run.world.accelerators else NONE


@function("torch.device")
def make_device(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    given = arguments.get(0, "type") or arguments.keywords.get("device")
    if given is None:
        return Unknown("torch.device without arguments")
    value = given.value
    if isinstance(value, Const) and isinstance(value.value, str):
        return _device_from_text(run, value, arguments, site)
    if isinstance(value, DeviceHandle):
        return DeviceHandle(value.device, value.site, value.literal)
    if isinstance(value, Symbolic):
        return DeviceHandle(Opaque(value.origin), site)
    if isinstance(value, HostValue):
        announce_invalid(run, value, site)
    device = device_named(run, given)
    return DeviceHandle(device or Unsure("the device is computed"), site)


def _device_from_text(run: Run, value: Const, arguments: Arguments, site: cst.Call) -> Value:
    assert isinstance(value.value, str)
    try:
        device: Device = parse_device(value.value, run.notes(Backends).names)
    except InvalidDevice:
        announce_invalid(run, value, site)
        return DeviceHandle(Unsure(f"{value.value!r} is no device"), site)
    if not run.assumptions:
        announce_discarded_context(run, "torch.device", site)
    index = arguments.get(1, "index")
    if index is not None:
        run.steps.index_used(index.value)
    if index is not None and isinstance(device, Known):
        device = _at_index(device, index.value)
    numbered = index is not None and not isinstance(index.value, Const)
    if value.chosen:
        note_placed(run)
    return DeviceHandle(device, value.site, literal=not (value.chosen or numbered))


def _at_index(device: Known, index: Value) -> Known:
    match index:
        case Const(int(number)):
            return Known(device.type, number)
        case Const(None):
            return device
        case _:
            return Known(device.type, computed=True)


@function("torch.set_default_device")
def set_default_device(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    if arguments.positional:
        given = arguments.positional[0]
        named = device_named(run, given) or CPU
        run.default_device = demand(run, given, named, site, "torch.set_default_device()")
        note_model(run, site)
    return NONE


@function("torch.utils.rename_privateuse1_backend")
def rename_backend(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """The program gives its own backend a name."""
    run.notes(Backends).names |= {
        str(one.value.value) for one in arguments if isinstance(one.value, Const)
    }
    return NONE


@function("torch.get_default_device")
def get_default_device(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """Where new tensors are created, if nothing else is said."""
    return DeviceHandle(run.default_device, site)


@function("devicelint.reveal_device", "reveal_device", "builtins.reveal_device")
def reveal_device(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    if not arguments.positional:
        return NONE
    value = arguments.positional[0].value
    run.depends_on_machine = True
    run.announce(Revealed(site, value, revealed_device(run, value)))
    return value


@function("builtins.str")
def str_(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """The name of a device is a device too."""
    value = arguments.positional[0].value if arguments.positional else HOST
    if isinstance(value, DeviceHandle):
        return replace(value, is_object=False)
    if isinstance(value, Const):
        return value if isinstance(value.value, str) else HOST
    return value if isinstance(value, (Symbolic, HostValue)) else HOST


@enters(DeviceHandle)
@contextmanager
def _device_context(run: Run, value: DeviceHandle, item: cst.WithItem) -> Iterator[Value]:
    """`with torch.device("cuda"):` is where torch creates tensors meanwhile."""
    defaults = run.default_device
    if value.is_object:
        given = Argument(item.item, value)
        run.default_device = demand(run, given, value.device, item, "with")
    yield Unknown("entered by with")
    run.default_device = defaults

"""DataParallel and DistributedDataParallel: where they need the module that they wrap."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import libcst as cst

from devicelint.domain.devices import CPU, Device, Known, Unsure
from devicelint.domain.events import AcceleratorDemanded, Event, Operand
from devicelint.domain.history import Site, Step, Verb
from devicelint.domain.parallel_events import ParallelCalled, ParallelWrapped
from devicelint.domain.state import DEVICE_FIELD
from devicelint.domain.values import NONE, Const, DeviceHandle, Module, OneOf, Placed, Value
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.objects import module_device
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.python.containers.contents import known_elements
from devicelint.interpreter.torch.devices.arguments import device_named
from devicelint.interpreter.torch.modules.registration import move_module, owns_tensors
from devicelint.interpreter.torch.placing import place
from devicelint.knowledge import module_class

REPLICATED = "torch.nn.DataParallel"
DISTRIBUTED = "torch.nn.DistributedDataParallel"
_FIRST = "@first"
"""Where a DataParallel keeps the first of its devices, and where it was made."""
_LEAVES = "@leaves inputs"
"""What a DistributedDataParallel holds that was given no devices, and brings nothing to them."""


def note_wrapped(run: Run, wrapper: Module, arguments: Arguments, site: cst.Call) -> None:
    """Where the wrapper needs the module: at its first call, or at once."""
    inner = arguments.get(0, "module")
    if arguments.open or inner is None:
        return
    module = one_alike(run, inner.value)
    if module is None:
        return
    ids = arguments.get(1, "device_ids")
    devices = _devices_in(run, ids)
    if wrapper.name == REPLICATED:
        first = devices[0] if devices else Known("cuda", 0) if _is_left_out(ids) else _UNREAD
        _replicate(run, wrapper, module, first, inner.site, is_only=len(devices) == 1)
    elif wrapper.name == DISTRIBUTED and _has_tensors(run, module):
        if _is_left_out(ids):
            run.state.write(wrapper.ref, _LEAVES, Const(True))
        place = module_device(run, module)
        wrapped = Operand(inner.site, module, place.device, place.since)
        run.announce(ParallelWrapped(site, wrapped, devices, ids.site if ids else None))
        if devices and place.device == CPU and module is inner.value:
            _go_on_as_moved(run, wrapper, module, Step(Verb.PLACED, site, devices[0]))


def _replicate(
    run: Run, wrapper: Module, module: Module, first: Device, site: Site, *, is_only: bool
) -> None:
    """DataParallel looks for its module when it is called; to an only device it brings it."""
    is_elsewhere = module_device(run, module).device == CPU
    run.counts_accelerators |= is_elsewhere and not is_only
    if is_elsewhere and (is_only or run.world.accelerators == 1):
        _go_on_as_moved(run, wrapper, module, Step(Verb.PLACED, site, first))
    run.state.write(wrapper.ref, _FIRST, DeviceHandle(first, site))


def _go_on_as_moved(run: Run, wrapper: Module, module: Module, since: Step) -> None:
    """What follows is checked as though the module had been moved before it was wrapped."""
    if not isinstance(since.device, Unsure):
        move_module(run, module, since.device, since)
        run.state.write(wrapper.ref, DEVICE_FIELD, Placed(since.device, since))


def one_alike(run: Run, value: Value) -> Module | None:
    """A module; of several by the path taken, the first, where all are in one place."""
    if isinstance(value, Module):
        return value
    options = value.options if isinstance(value, OneOf) else ()
    modules = [option for option in options if isinstance(option, Module)]
    places = {module_device(run, module).device for module in modules}
    return modules[0] if len(places) == 1 and len(modules) == len(options) else None


_UNREAD = Unsure("device_ids is not read")


def _is_left_out(argument: Argument | None) -> bool:
    return argument is None or argument.value == NONE


def _devices_in(run: Run, argument: Argument | None) -> tuple[Device, ...]:
    """The devices of `device_ids=[0, 1]`; none where it cannot be read."""
    elements = None if argument is None else known_elements(run, argument.value)
    if argument is None or elements is None:
        return ()
    sites = _sites_in(argument.site, len(elements))
    named = [device_named(run, Argument(*pair)) for pair in zip(sites, elements, strict=True)]
    return tuple(one or _UNREAD for one in named)


def _sites_in(site: Site, length: int) -> list[Site]:
    """Where each element stands, as far as the list is written out."""
    elements = site.elements if isinstance(site, (cst.List, cst.Tuple)) else ()
    return [one.value for one in elements] if len(elements) == length else [site] * length


def _has_tensors(run: Run, module: Module) -> bool:
    """Whether a module owns parameters; one whose class is not seen is taken to."""
    held = any(not name.startswith("@") for name in run.state.fields(module.ref))
    return owns_tensors(run, module) or not (held or module_class(module.name))


def call_wrapped(
    run: Run, wrapper: Module, inner: Module, arguments: Arguments, site: cst.Call
) -> Value:
    """What a wrapper gives: it brings its inputs to its module first, if it was given devices.

    Where it is not known whether it does, or the module was moved away, only that an accelerator
    is demanded is reported.
    """
    if run.state.read(wrapper.ref, _LEAVES) is not None:
        return run.call(inner, arguments, site)
    device = module_device(run, wrapper).device
    is_there = module_device(run, inner).device == device
    is_brought = is_there and device != CPU and not isinstance(device, Unsure)
    if is_brought:
        arguments = _scattered(run, arguments, Step(Verb.PLACED, site, device), site)
    with _replicated(run, is_heard=is_brought):
        return run.call(inner, arguments, site)


def _scattered(run: Run, arguments: Arguments, step: Step, site: cst.Call) -> Arguments:
    """Copies of what is given, with all tensors on the module's device; modules are left."""

    def brought(argument: Argument) -> Argument:
        is_left = isinstance(argument.value, (Module, OneOf))
        value = argument.value if is_left else place(run, argument.value, step, site)
        return Argument(argument.site, value)

    return replace(
        arguments,
        positional=[brought(one) for one in arguments.positional],
        keywords={name: brought(one) for name, one in arguments.keywords.items()},
    )


@contextmanager
def _replicated(walk: Run, *, is_heard: bool) -> Iterator[None]:
    """Walk what a wrapper calls; where it demands an accelerator, the wrapper may be without."""
    is_muted = walk.muted_parts > 0

    def pass_on(event: Event, run: Run) -> None:
        if isinstance(event, AcceleratorDemanded) and not is_muted:
            outer(replace(event, at_times=True), run)
        elif is_heard and not is_muted:
            outer(event, run)

    with walk.diverted_to(pass_on) as outer:
        yield


def note_parallel_call(run: Run, wrapper: Module, site: cst.Call) -> None:
    """A DataParallel looks at its module when it is called, on a machine with accelerators."""
    first = run.state.read(wrapper.ref, _FIRST)
    inner = run.state.read(wrapper.ref, "module")
    if not isinstance(first, DeviceHandle) or not isinstance(inner, Module):
        return
    if run.world.accelerators and _has_tensors(run, inner):
        place = module_device(run, inner)
        operand = Operand(first.site, inner, place.device, place.since)
        run.announce(ParallelCalled(site, wrapper.since.site, operand, first.device))

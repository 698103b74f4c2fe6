"""Devices that are given as arguments, and what is demanded of them."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.devices import (
    CPU,
    NOWHERE,
    Device,
    DeviceOf,
    InvalidDevice,
    Known,
    Opaque,
    Unsure,
    is_accelerator,
    parse_device,
)
from devicelint.domain.events import AcceleratorDemanded, InvalidDeviceNamed
from devicelint.domain.history import Site
from devicelint.domain.values import (
    Batch,
    Const,
    DeviceHandle,
    DeviceIndex,
    HostValue,
    ImportedName,
    Placed,
    Symbolic,
    Tensor,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.device_settings import is_device_setting
from devicelint.interpreter.facts.device_words import holds_device
from devicelint.interpreter.facts.failures import (
    fail,
    fail_unless_reported,
    note_raising,
    standing_of_demand,
)
from devicelint.interpreter.facts.machines.choices import is_program, note_demand, note_sent
from devicelint.interpreter.facts.movable import note_chosen
from devicelint.interpreter.facts.named_devices import is_hard
from devicelint.interpreter.python.paths.device_questions import meets_accelerators_here
from devicelint.interpreter.python.stdlib.paths import ANYTHING
from devicelint.interpreter.python.unseen import is_setting
from devicelint.interpreter.torch.devices.choosers import AcceleratorIndices, LibraryChoices
from devicelint.interpreter.torch.devices.current import on_current
from devicelint.interpreter.torch.devices.outside import Backends, named_by_import, named_by_setting
from devicelint.interpreter.torch.devices.written_out import (
    WrittenOut,
    note_chosen_at,
    note_written_out,
)


def note_index(run: Run, value: Value) -> None:
    """An accelerator was asked for a device of this number: it is none that may be the CPU."""
    if isinstance(value, Symbolic) and not run.assumptions:
        run.notes(AcceleratorIndices).origins.add(value.origin)


def device_named(run: Run, argument: Argument) -> Device | None:
    """The device that an argument names; None for what is no device, such as a dtype."""
    value = argument.value
    match value:
        case DeviceHandle(device):
            return device if not isinstance(device, Unsure) else _computed(run, argument, device)
        case DeviceIndex(device):
            return device
        case Const(str()):
            return _parse(run, value)
        case Const(bool() | None):
            return None
        case Const(int(index)):
            return Known("cuda", index)
        case Tensor() | Batch() | Placed():
            return value.device
        case Symbolic(origin):
            run.steps.index_used(value)
            last = origin.rpartition(".")[2]
            return None if "dtype" in last else Opaque(origin)
        case ImportedName(name):
            return named_by_import(name)
        case Unknown() if is_setting(value) and isinstance(argument.site, cst.CSTNode):
            return named_by_setting(run.code_of(argument.site))
        case _:
            return _computed(run, argument, Unsure("the device is computed"))


def _computed(run: Run, argument: Argument, device: Unsure) -> Device:
    """A device that nobody can read is one device all the same, where a name holds it.

    That of a value which nobody follows is no choice: it may well be the CPU.
    """
    named = isinstance(argument.site, (cst.Name, cst.Attribute))
    if device is NOWHERE or not named or not run.frame.is_checked or _is_read_off(argument.value):
        return device
    assert isinstance(argument.site, cst.CSTNode)
    name = run.code_of(argument.site)
    if isinstance(argument.value, (DeviceHandle, HostValue)):
        return Opaque(name)
    is_own = "." not in name.removeprefix("self.") and not _is_parameter(run, name)
    return Opaque(name) if is_own and holds_device(name) else device


def _is_read_off(value: Value) -> bool:
    """Whether a device is what a value has as `.device`."""
    return isinstance(value, DeviceHandle) and isinstance(value.site, cst.Attribute)


def _is_parameter(run: Run, name: str) -> bool:
    """Whether a function is given what it calls so: None, perhaps, which is the CPU."""
    if name in run.frame.bindings:
        return False
    node = run.frame.node
    parameters = node.params if isinstance(node, (cst.FunctionDef, cst.Lambda)) else None
    given = () if parameters is None else (*parameters.params, *parameters.kwonly_params)
    return any(one.name.value == name for one in given)


def _parse(run: Run, value: Const) -> Device:
    assert isinstance(value.value, str)
    try:
        return parse_device(value.value, run.notes(Backends).names)
    except InvalidDevice:
        return Unsure(f"{value.value!r} is no device")


def announce_invalid(run: Run, value: Const | HostValue, site: cst.CSTNode) -> None:
    """Announce a string that is used as a device, where torch would refuse it."""
    written = value if isinstance(value, Const) else _type_in(value)
    if written is None:
        return
    text = str(written.value)
    try:
        parse_device(text, run.notes(Backends).names)
    except InvalidDevice:
        if run.expects("RuntimeError"):
            return
        place = site if written.site is None else written.site
        run.announce(InvalidDeviceNamed(place, text, site, written.chosen))


def _type_in(text: HostValue) -> Const | None:
    """The type of device that a text names before an index that is put in: `"gpu:%d" % index`."""
    kind, colon, index = (text.name or "").partition(":")
    return Const(kind) if colon and index == ANYTHING and ANYTHING not in kind else None


def asked_for(run: Run, argument: Argument, site: cst.CSTNode) -> Device | None:
    """The device on which something is to be made, which shows what is expected to be there."""
    device = device_named(run, argument)
    if device is None:
        return None
    note_chosen(run, device)
    return demand(run, argument, device, site, "device=")


def demand(
    run: Run, argument: Argument | None, device: Device, site: cst.CSTNode, how: str
) -> Device:
    """The code goes to a device: where that is written out, a machine without it fails.

    Returns the device that it gets: what goes on after a failure is nowhere.
    """
    run.steps.demanded(site)
    is_theirs = _may_be_the_cpu(run, device)
    if is_theirs:
        note_sent(run)
    is_followed = argument is not None and _is_followed(argument.value)
    is_chosen = is_theirs and is_followed and is_program(run) and _is_programs(run, device)
    is_read_back = device == CPU and how.startswith(".")
    goes = not (is_read_back or isinstance(device, DeviceOf))
    is_set = run.world.is_set_to_the_cpu and device == CPU
    is_handed_on = argument is not None and is_accelerator(device) and _is_handed_on(run, argument)
    if is_chosen or is_set or is_handed_on or (goes and _is_asked_for(run)):
        note_chosen_at(run, site)
    if not is_accelerator(device):
        if argument is not None and isinstance(argument.value, (Const, HostValue)):
            announce_invalid(run, argument.value, site)
        return device
    is_announced = run.assumptions == run.unrelated and _demand_written_out(
        run, argument, device, site, how
    )
    if not is_announced and run.assumptions == run.unrelated + run.of_machine:
        _note_guarded(run, argument, device, site)
    if run.world.accelerators:
        return on_current(run, device)
    _fail(run, argument, device, site if is_announced else None)
    return NOWHERE


def _is_followed(value: Value) -> bool:
    """Whether it is known who chooses: whoever writes a file of settings does."""
    return not isinstance(value, Unknown) or is_setting(value)


def _is_asked_for(run: Run) -> bool:
    """Whether a condition around asks what the machine has, or what somebody chooses."""
    return run.assumptions != run.unrelated + run.idle


def _fail(run: Run, argument: Argument | None, device: Device, announced: Site) -> None:
    """There is no such device: what follows does not happen, unless somebody chose it."""
    if announced is not None and isinstance(device, Known):
        fail_unless_reported(run, device, announced)
    elif argument is None or _is_hard(argument.value):
        fail(run)


def _is_hard(value: Value) -> bool:
    return isinstance(value, (Const, DeviceHandle)) and is_hard(value)


def _is_handed_on(run: Run, argument: Argument) -> bool:
    """Whether a device was chosen before it came here.

    It is not spelled out, nor a tensor's, nor the one that CUDA says is current.
    """
    value = argument.value
    if not isinstance(value, (Const, DeviceHandle)) or is_hard(value):
        return False
    if value.site in run.notes(WrittenOut).current:
        return False
    return value.site is not argument.site and not _is_read_off(value)


def _may_be_the_cpu(run: Run, device: Device) -> bool:
    """Whether somebody may choose the device, among those that are there.

    What is given to a function may be any accelerator of a machine that has some.
    """
    if not isinstance(device, Opaque):
        return False
    return device.origin not in run.notes(AcceleratorIndices).origins


def _is_programs(run: Run, device: Device) -> bool:
    """Whether the program itself chooses a device, and no library that it uses."""
    return not isinstance(device, Opaque) or device.origin not in run.notes(LibraryChoices).origins


def _demand_written_out(
    run: Run, argument: Argument | None, device: Device, site: cst.CSTNode, how: str
) -> bool:
    """Announce that the code goes to an accelerator, where nobody else chose it; whether so."""
    place: Site = None
    current = run.notes(WrittenOut).current  # CUDA's own, asked for where nothing guards that.
    if argument is None:
        place = site
    elif isinstance(argument.value, DeviceHandle) and argument.value.site in current:
        note_written_out(run, argument.value.site, site)
    elif isinstance(argument.value, (Const, DeviceHandle)):
        is_written_here = bool(run.assumptions) and argument.value.site is argument.site
        place = argument.value.site if is_written_here or is_hard(argument.value) else None
    if place is None:
        return False
    note_written_out(run, place, site)
    note_demand(run)
    what = place, device, how, argument is not None, site, bool(run.assumptions)
    run.announce(AcceleratorDemanded(*what, standing=standing_of_demand(run)))
    note_raising(run, place)
    return True


def _note_guarded(run: Run, argument: Argument | None, device: Device, site: cst.CSTNode) -> None:
    """Remember a call that goes to an accelerator wherever there is one, and asks nothing else."""
    is_read = argument is None or isinstance(argument.value, (Const, DeviceHandle))
    keys = () if argument is None else (key for key, _ in run.world.settings)
    is_asked = run.device_choices > 0 or any(is_device_setting(run, key) for key in keys)
    is_asked = is_asked or meets_accelerators_here(run)
    if is_read and isinstance(device, Known) and run.frame.is_checked and not is_asked:
        run.notes(WrittenOut).guarded.add(site)
        run.note_made(site)


def note_idle_demand(run: Run, method: str, site: cst.CSTNode) -> None:
    """`.cuda()` on what has nothing to move, and so does not fail."""
    if run.assumptions == run.unrelated and method != "cpu":
        note_demand(run)
        idle = AcceleratorDemanded(site, Known(method), f".{method}()", False, site, is_idle=True)
        run.announce(idle)

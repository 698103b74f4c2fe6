"""Legacy tensor types such as `torch.cuda.FloatTensor`: their names, calls and moves."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devicelint.domain.api_events import LegacyTypeUsed, LegacyUse
from devicelint.domain.devices import (
    CPU,
    NOWHERE,
    Device,
    DeviceOf,
    Known,
    Opaque,
    Unsure,
    is_accelerator,
)
from devicelint.domain.history import Site, Step, Verb
from devicelint.domain.values import (
    NONE,
    Batch,
    Const,
    ImportedName,
    Module,
    Placed,
    Tensor,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import function, method_of_unknown
from devicelint.interpreter.facts.failures import fail_unless_reported
from devicelint.interpreter.facts.machines.asked import note_placed
from devicelint.interpreter.facts.machines.choices import note_demand
from devicelint.interpreter.torch.devices.arguments import device_named
from devicelint.interpreter.torch.devices.written_out import note_written_out
from devicelint.interpreter.torch.modules.registration import move_module
from devicelint.interpreter.torch.operations.signatures import apply_signature
from devicelint.interpreter.torch.tensors import as_tensor
from devicelint.knowledge import function as signature_of

DTYPES = {
    "Float": "float32",
    "Double": "float64",
    "Half": "float16",
    "BFloat16": "bfloat16",
    "Long": "int64",
    "Int": "int32",
    "Short": "int16",
    "Char": "int8",
    "Byte": "uint8",
    "Bool": "bool",
}
"""The dtype that each legacy type stands for."""

ON_CPU = {f"torch.{kind}Tensor": kind for kind in DTYPES}
ON_CUDA = {f"torch.cuda.{kind}Tensor": kind for kind in DTYPES}


def dtype_of(name: str) -> str | None:
    """The dtype of a legacy type such as `torch.cuda.LongTensor`; None: it is none.

    >>> dtype_of("torch.cuda.LongTensor")
    'int64'
    """
    return DTYPES.get(ON_CUDA.get(name) or ON_CPU.get(name) or "")


def legacy_device(value: Value) -> Known | None:
    """Where a legacy type, or a string that names one, puts tensors; None: it is none."""
    name = value.name if isinstance(value, ImportedName) else None
    if isinstance(value, Const) and isinstance(value.value, str):
        name = value.value
    if name in ON_CUDA:
        return Known("cuda")
    return CPU if name in ON_CPU else None


def type_name(value: Value) -> str:
    """The full name of a legacy type, however it was given."""
    return str(value.value) if isinstance(value, Const) else getattr(value, "name", "")


@method_of_unknown("type")
def _typed(run: Run, receiver: Value, node: cst.Call) -> Value | None:
    """`.type(torch.FloatTensor)` of anything is on the CPU; None where no such type is given."""
    given = node.args[0].value if len(node.args) == 1 else None
    device = None if given is None else legacy_device(run.evaluate(given))
    return Placed(CPU, Step(Verb.TYPED, node, CPU)) if device == CPU else None


@function(*ON_CUDA)
def cuda_tensor(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """`torch.cuda.FloatTensor(2, 3)`: a tensor on the accelerator, in the old way."""
    with run.muted():
        callee = run.evaluate(site.func)
    device = use_legacy(run, callee, site, LegacyUse.CONSTRUCTED)
    return Tensor(device, Step(Verb.CREATED_ON, site, device), False, False)


@function(*ON_CPU)
def cpu_tensor(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """`torch.LongTensor(x)`: on the CPU, and torch refuses `device=` another one."""
    given = arguments.keywords.pop("device", None)
    signature = signature_of(name)
    made: Value = Unknown(name)
    if signature is not None:
        made = apply_signature(run, signature, arguments, site, name=name)
    device = None if given is None or given.value == NONE else device_named(run, given)
    if given is None or device is None or not isinstance(made, Tensor):
        return made
    if is_accelerator(device) and run.world.accelerators == 0:
        note_demand(run)
    is_given = run.world.accelerators > 0 and isinstance(device, (Opaque, DeviceOf))
    if is_accelerator(device) or is_given:
        run.announce(LegacyTypeUsed(site, LegacyUse.KEYWORD, name, device, given.site))
    return replace(made, device=device, since=Step(Verb.CREATED_ON, site, device))


def use_legacy(
    run: Run, given: Value, site: cst.Call, use: LegacyUse, argument: Site = None
) -> Device:
    """A CUDA type is used: where it is written out and unguarded, a machine without fails.

    Returns the device that it gives.
    """
    if run.assumptions or getattr(given, "chosen", False):
        note_placed(run)
    else:
        note_written_out(run, site, site)
        note_demand(run)
        run.announce(LegacyTypeUsed(site, use, type_name(given), Known("cuda"), argument))
    if run.world.accelerators:
        return Known("cuda")
    if not getattr(given, "chosen", False):
        fail_unless_reported(run, Known("cuda"), site)
    return NOWHERE


def converted(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value | None:
    """`.type(torch.cuda.FloatTensor)` copies to the accelerator, `.type(torch.FloatTensor)` back.

    None where no legacy type is given.
    """
    given = arguments.get(0, "dtype")
    device: Device | None = None if given is None else legacy_device(given.value)
    if given is None or device is None or not isinstance(receiver, (Tensor, Batch, Placed)):
        return None
    tensor = _as_tensor(receiver)
    if device != CPU:
        device = use_legacy(run, given.value, site, LegacyUse.CONVERTED, given.site)
    if device == tensor.device and device != CPU:
        return tensor
    # Wherever the tensor comes from, it is on the CPU from here on.
    verb = Verb.TYPED if device == tensor.device else Verb.MOVED
    role = "" if tensor.role in ("parameter", "buffer") else tensor.role
    return replace(tensor, device=device, since=Step(verb, site, device), role=role)


def _as_tensor(value: Tensor | Batch | Placed) -> Tensor:
    if isinstance(value, Placed):
        return Tensor(value.device, value.since)
    return as_tensor(value) if isinstance(value, Batch) else value


def move_to_type(run: Run, module: Module, arguments: Arguments, site: cst.Call) -> None:
    """`model.type(torch.cuda.FloatTensor)` moves all that the model registered, in place."""
    given = arguments.get(0, "dst_type")
    device: Device | None = None if given is None else legacy_device(given.value)
    if given is None or device is None:
        return
    if device != CPU:
        device = use_legacy(run, given.value, site, LegacyUse.CONVERTED, given.site)
    move_module(run, module, device, Step(Verb.MOVED, site, device, of_module=True))


@function("torch.set_default_tensor_type")
def set_default_tensor_type(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """The type of new tensors, and with it their device."""
    given = arguments.get(0, "t")
    named = None if given is None else legacy_device(given.value)
    device: Device = named or Unsure("the default tensor type was changed")
    if given is not None and named is not None and named != CPU:
        device = use_legacy(run, given.value, site, LegacyUse.DEFAULT, given.site)
        if not run.world.accelerators:
            device = Unsure("the default tensor type is one of CUDA's")
    run.default_device = run.device_of_type = device
    return NONE

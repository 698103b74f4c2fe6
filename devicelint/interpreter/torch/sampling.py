"""`torch.Generator`, made for a device."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.devices import CPU, Device, Unsure
from devicelint.domain.history import Step, Verb
from devicelint.domain.values import NONE, Generator, Value
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import function
from devicelint.interpreter.torch.device_arguments import demand, device_named


@function("torch.Generator")
def make_generator(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """A generator is the CPU's unless it is told; the default device is nothing to it."""
    given = arguments.get(0, "device")
    device: Device = CPU
    if given is not None and given.value != NONE:
        named = device_named(run, given) or Unsure("the device is not known")
        device = demand(run, given, named, site, "device=")
    run.note_made(site)
    verb = Verb.CREATED if given is None else Verb.CREATED_ON
    return Generator(device, Step(verb, site, device))

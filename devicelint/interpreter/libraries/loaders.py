"""Loaders of libraries, which bring their batches to a device: timm's, and torchtext's of old."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.devices import CPU, Known
from devicelint.domain.history import Step, Verb
from devicelint.domain.values import NONE, Batch, Const, Loader, Tuple, Unknown, Value
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import library_call
from devicelint.interpreter.libraries.placement import given_device
from devicelint.interpreter.python.conditions import truth_of
from devicelint.interpreter.torch.devices.arguments import device_named
from devicelint.interpreter.torch.devices.handed import note_handed


@library_call("Prefetching")
def prefetching(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """Timm's loaders bring batches to their device, unless an argument forbids to prefetch."""
    prefetches = arguments.keywords.get("use_prefetcher")
    answer = True if prefetches is None else truth_of(run, prefetches.value)
    if answer is None:
        return Unknown("a loader that may prefetch")
    device = given_device(run, arguments, 99, site) if answer else CPU
    step = (
        Step(Verb.LOADED, site, CPU)
        if not answer
        else Step(Verb.PLACED, site, device or Known("cuda"))
    )
    return Loader(Batch(step.device, step), False, site)


@library_call("DeviceLoader")
def device_loader(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """Torchtext's iterators yield batches on the device that they are given; a number is none."""
    given = arguments.get(3, "device")
    if given is not None and (_is_number(given.value) or device_named(run, given) is None):
        note_handed(run, arguments)
        return Loader(Unknown("batches on a numbered device"), False, site)
    device = given_device(run, arguments, 3, site)
    step = Step(Verb.LOADED, site, CPU) if device is None else Step(Verb.PLACED, site, device)
    return Loader(Batch(step.device, step), False, site)


def _is_number(value: Value) -> bool:
    return isinstance(value, Const) and isinstance(value.value, int)


@library_call("DeviceLoaders")
def device_loaders(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """`BucketIterator.splits((train, test), device=device)`: one for each."""
    one = device_loader(run, receiver, arguments, site)
    given = arguments.positional[0].value if arguments.positional else NONE
    return Tuple((one,) * len(given.items)) if isinstance(given, Tuple) else Unknown("loaders")

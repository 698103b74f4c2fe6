"""The current device of CUDA: the first one, until the program makes another one current."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from devicelint.domain.devices import Device, Known
from devicelint.domain.values import HOST, Const, DeviceHandle, Value
from devicelint.interpreter.engine.objects import CURRENT, MACHINE
from devicelint.interpreter.engine.run import Run


def on_current(run: Run, device: Device) -> Device:
    """An accelerator without an index is the current one, where it matters which that is.

    It does on machines with several, which a program is for that names any but the first.
    """
    if not isinstance(device, Known) or device.type != "cuda" or device.computed:
        return device
    if device.index is not None:
        run.counts_accelerators |= device.index > 0
        return device
    current = run.state.read(MACHINE, CURRENT) if run.world.accelerators > 1 else HOST
    if current is None:
        return Known("cuda", 0, implied=True)
    index = current.value if isinstance(current, Const) else None
    return Known("cuda", index) if isinstance(index, int) else device


def make_current(run: Run, value: Value) -> None:
    """`torch.cuda.set_device(1)`: what is not known makes the current device unknown."""
    run.state.write(MACHINE, CURRENT, _index_of(value))


def _index_of(value: Value) -> Value:
    match value:
        case Const(int(index)) if index >= 0:
            return Const(index)
        case Const(str(name)) if name.startswith("cuda:") and name[5:].isdigit():
            return Const(int(name[5:]))
        case DeviceHandle(Known("cuda", int(index))):
            return Const(index)
        case _:
            return HOST


@contextmanager
def while_current(run: Run, value: Value) -> Iterator[Value]:
    """`with torch.cuda.device(1)`: afterwards the one of before is current again."""
    before = run.state.read(MACHINE, CURRENT)
    make_current(run, value)
    yield value
    if before is None:
        run.state.delete(MACHINE, CURRENT)
    else:
        run.state.write(MACHINE, CURRENT, before)

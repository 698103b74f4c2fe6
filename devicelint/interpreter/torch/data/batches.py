"""What the default collate function makes of samples."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devicelint.domain.devices import CPU, DeviceOf
from devicelint.domain.history import Step, Verb
from devicelint.domain.values import (
    Array,
    Batch,
    Const,
    DictOf,
    HostValue,
    Instance,
    ListOf,
    Stream,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.python.containers.contents import element_in
from devicelint.interpreter.python.containers.fields import ELEMENT


def batch_of(
    run: Run, item: Value, site: cst.Call, *, believed: bool = False, as_made: bool = False
) -> Value:
    """What the default collate function makes of items; what another one made is a batch as it is.

    Numbers become tensors by the default alone.
    """
    since = Step(Verb.LOADED, site, CPU, believed=believed)

    def part_of(one: Value) -> Value:
        return batch_of(run, one, site, believed=believed, as_made=as_made)

    match item:
        case Tensor(device=DeviceOf(is_unseen=True)):
            return Unknown("what the dataset yields comes of code that is not seen")
        case Tensor():
            return Tensor(item.device, replace(since, device=item.device), False, item.grad)
        case Batch():
            return replace(item, since=replace(since, device=item.device))
        case HostValue() | Array() | Const():
            return item if as_made else _batch_of_host(item, since)
        case Instance() if as_made:
            return item
        case ListOf() if not as_made:
            element = element_in(run, run.state.fields(item.ref))
            return Stream(part_of(element), filled=True)
        case Tuple(items):
            return Tuple(tuple(map(part_of, items)))
        case DictOf() | ListOf():
            made = replace(item, ref=run.allocate(site, f"batch of {item.ref}"))
            for field, value in tuple(run.state.fields(item.ref).items()):
                is_note = field.startswith("@") and field != ELEMENT
                run.state.write(
                    made.ref, field, value if is_note else _named(part_of(value), field)
                )
            return made
        case Stream(element):
            return Stream(part_of(element), filled=True)
        case _:
            return Unknown("what the dataset yields is not known")


def _batch_of_host(item: Value, since: Step) -> Value:
    """Numbers become a tensor, and texts a list of texts."""
    match item:
        case Array() | Const(bool() | int() | float()) | HostValue(least=int()):
            return Tensor(CPU, since, False, False)
        case _:
            return Batch(CPU, since, whole=False)


def _named(value: Value, name: str) -> Value:
    """What a batch holds under a name."""
    if isinstance(value, (Tensor, Batch)):
        return replace(value, since=replace(value.since, part=name))
    return value

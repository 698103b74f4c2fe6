"""The names that hold a device, and how they are chosen from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import chain

import libcst as cst

from devicelint.domain.devices import Device, Known, Opaque, Unsure
from devicelint.domain.history import Site
from devicelint.domain.values import Const, DeviceHandle, Symbolic, Tensor, Value
from devicelint.interpreter.engine.nodes import descendants
from devicelint.interpreter.facts.device_words import USUAL_NAMES, holds_device
from devicelint.interpreter.facts.name_uses import assigned, last_name, reads_of


def named_device(
    fields: Iterable[tuple[str, Value]], device: Device, without: frozenset[str]
) -> str | None:
    """A variable that holds the device, the usual name before others, `without` some."""
    names = [
        name
        for name, value in fields
        if name not in without and (gives(value, device) or _counts(name, value, device))
    ]
    usual = next((name for name in USUAL_NAMES if name in names), None)
    return usual or min(names, default=None)


@lru_cache(maxsize=1)
def named_by_count(tree: cst.Module) -> frozenset[str]:
    """The names of a file that are bound by a choice which asks how many accelerators there are.

    Attributes are among them without their `self.`
    """
    return frozenset(
        name.removeprefix("self.")
        for name, statement in assigned(reads_of(tree))
        if isinstance(statement.value, cst.IfExp) and any(map(_is_count, descendants(statement)))
    )


def _is_count(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Call) and last_name(node.func) == "device_count"


def kept_setting(fields: Mapping[str, Value], device: Device) -> str | None:
    """`args.gpu` of a function that kept its `args`, which has a device nobody can read."""
    if not isinstance(device, Opaque):
        return None
    first, dot, rest = device.origin.partition(".")
    kept = (n for n, v in fields.items() if isinstance(v, Symbolic) and v.origin == first)
    return next((f"{name}.{rest}" for name in kept if dot), None)


def device_by_name(held: Mapping[str, Tensor], site: Site, value: Tensor) -> str | None:
    """`y.device`, where `y` is the value, or lies where `(y - 1).view(-1)` does, which is."""
    same = (name for name, one in held.items() if one.since is value.since)
    inner = descendants(site) if isinstance(site, cst.CSTNode) else ()
    names = (one.value for one in inner if isinstance(one, cst.Name) and one.value in held)
    beside = (name for name in names if held[name].device == value.device)
    return next((f"{name}.device" for name in chain(same, beside)), None)


def gives(value: Value, device: Device) -> bool:
    """Whether `device=` may be given a value for a device."""
    if isinstance(value, Const):
        return isinstance(device, Known) and value.value == str(device)
    if isinstance(value, Symbolic):
        return isinstance(device, Opaque) and value.origin == device.origin
    if not isinstance(value, DeviceHandle) or isinstance(value.device, Unsure):
        return False
    return device == value.device


def _counts(name: str, value: Value, device: Device) -> bool:
    """Whether a name that is for devices holds the number of one: `gpu_id = 0`."""
    number = value.value if isinstance(value, Const) else None
    if type(number) is not int or not holds_device(name):
        return False
    return device == Known("cuda", number)

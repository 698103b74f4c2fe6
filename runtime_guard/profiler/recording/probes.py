"""What a call that was made has moved, or waited for: read from its arguments and its result.

A probe runs after the call, with torch functions disabled, and must not start work on a device: it
reads devices, sizes and types only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

import torch
from torch import Tensor

from runtime_guard.profiler.recording.values import Kind

CPU = "cpu"
UNREAL = frozenset({"FakeTensor", "FunctionalTensor"})
"""Classes of tensors without data, with which torch traces: nothing moves."""


class Transfer(NamedTuple):
    """One copy or wait, with the op where it is not the call's own."""

    kind: Kind
    source: str
    target: str
    bytes: int
    op: str = ""


Inside: TypeAlias = Mapping[tuple[str, str], int]
"""The bytes that calls inside the call have moved, by source and target."""
Probe: TypeAlias = Callable[[tuple[Any, ...], Mapping[str, Any], Any, Inside], list[Transfer]]


def moved(
    args: tuple[Any, ...], _kwargs: Mapping[str, Any], result: Any, _inside: Inside
) -> list[Transfer]:
    """A method that returns the tensor on another device: `x.to(device)`."""
    # The same tensor comes back from most moves.
    return _copy(args[0], result) if result is not args[0] else []


def overwritten(
    args: tuple[Any, ...], kwargs: Mapping[str, Any], _result: Any, _inside: Inside
) -> list[Transfer]:
    """`x.copy_(source)`."""
    source = args[1] if len(args) > 1 else kwargs.get("src", kwargs.get("other"))
    return _copy(source, args[0])


def created(
    args: tuple[Any, ...], kwargs: Mapping[str, Any], result: Any, _inside: Inside
) -> list[Transfer]:
    """`torch.tensor(data, device=…)`: data that is no tensor lies with the host."""
    data = args[0] if args else kwargs.get("data")
    if isinstance(data, Tensor):
        return _copy(data, result)
    return _created(result)


def created_anew(
    args: tuple[Any, ...], kwargs: Mapping[str, Any], result: Any, inside: Inside
) -> list[Transfer]:
    """`x.new_tensor(data)`."""
    return created(args[1:], kwargs, result, inside)


def read(
    args: tuple[Any, ...], _kwargs: Mapping[str, Any], _result: Any, _inside: Inside
) -> list[Transfer]:
    """A value that Python gets: `x.item()`, `x.tolist()`, `float(x)`."""
    if not _real(args[0]) or args[0].is_cpu:
        return []
    return [Transfer("sync", _device(args[0]), CPU, _bytes(args[0]))]


def counted(
    args: tuple[Any, ...], kwargs: Mapping[str, Any], result: Any, inside: Inside
) -> list[Transfer]:
    """A result whose size or truth depends on values: the host waits, the data stays."""
    return [each._replace(bytes=0) for each in read(args, kwargs, result, inside)]


def shown(
    args: tuple[Any, ...], _kwargs: Mapping[str, Any], _result: Any, inside: Inside
) -> list[Transfer]:
    """`print(x)`: what it costs is what was read on the way."""
    if not inside or not _real(args[0]):
        return []
    return [Transfer("sync", _device(args[0]), CPU, sum(inside.values()))]


def passed_on(
    _args: tuple[Any, ...], _kwargs: Mapping[str, Any], _result: Any, inside: Inside
) -> list[Transfer]:
    """`module.to(device)`: all of its tensors as one copy for each pair of devices."""
    return [Transfer("copy", *devices, size) for devices, size in inside.items()]


def picked(
    args: tuple[Any, ...], _kwargs: Mapping[str, Any], _result: Any, _inside: Inside
) -> list[Transfer]:
    """`x[index]`."""
    return list(_indexed(args[0], args[1])) if _real(args[0]) else []


def placed(
    args: tuple[Any, ...], _kwargs: Mapping[str, Any], _result: Any, _inside: Inside
) -> list[Transfer]:
    """`x[index] = value`. One value in place of many is filled in, without counting the mask."""
    holder, index, value = args
    if not _real(holder):
        return []
    many = isinstance(value, Tensor) and value.numel() != 1
    found = [each for each in _indexed(holder, index) if many or each.op != "x[mask]"]
    if isinstance(value, Tensor):
        found += [each._replace(op="x[index] = value") for each in _copy(value, holder)]
    return found


def _indexed(holder: Tensor, index: Any) -> Iterator[Transfer]:
    device = _device(holder)
    for part in index if isinstance(index, tuple) else (index,):
        if not isinstance(part, Tensor):
            size = 0 if device == CPU else _bytes_of_sequence(part)
            if size:
                yield Transfer("index", CPU, device, size)
        elif _device(part) == CPU:
            if device != CPU and part.dim():
                yield Transfer("index", CPU, device, _bytes(part))
        elif part.dtype in (torch.bool, torch.uint8):
            yield Transfer("sync", _device(part), CPU, 0, "x[mask]")
        elif not part.dim():
            # A number to Python, which has to know it.
            yield Transfer("sync", _device(part), CPU, _bytes(part))


def _bytes_of_sequence(part: Any) -> int:
    """Return the size of a list or an array of numpy as an index; a scalar is none."""
    if isinstance(part, list):
        return 8 * len(part)
    size = getattr(part, "nbytes", 0) if getattr(part, "ndim", 0) else 0
    return size if isinstance(size, int) else 0


def _copy(source: Any, target: Any) -> list[Transfer]:
    """Compare devices first: most tensors are where they should be."""
    if not (isinstance(source, Tensor) and isinstance(target, Tensor)):
        return []
    if source.device == target.device or not _real(source, target):
        return []
    before, after = _device(source), _device(target)
    size = 0 if "meta" in (before, after) else _bytes(source)
    return [Transfer("copy", before, after, size)]


def _created(result: Any) -> list[Transfer]:
    if not isinstance(result, Tensor) or result.is_cpu or not _real(result):
        return []
    size = 0 if _device(result) == "meta" else _bytes(result)
    return [Transfer("copy", CPU, _device(result), size)]


def _real(*values: Any) -> bool:
    return all(isinstance(value, Tensor) and type(value).__name__ not in UNREAL for value in values)


def _device(tensor: Tensor) -> str:
    return str(tensor.device)


def _bytes(tensor: Tensor) -> int:
    try:
        return int(tensor.nbytes)
    except (RuntimeError, NotImplementedError):
        # Some layouts do not say.
        return 0

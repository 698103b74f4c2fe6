"""What makes tensors: the device that is asked for, the default, or that of what is given."""

from __future__ import annotations

import re
from typing import Any

import torch
from torch import Tensor
from torch.utils import _device

from runtime_guard.virtual.devices.machine import CPU, machine
from runtime_guard.virtual.devices.marks import keep_on_host, place
from runtime_guard.virtual.devices.memory import refusal
from runtime_guard.virtual.devices.names import is_virtual, resolved
from runtime_guard.virtual.dispatch.calls import HANDLERS, handles
from runtime_guard.virtual.dispatch.getters import seen_device
from runtime_guard.virtual.dispatch.moves import moved

KEEPING = frozenset({torch.tensor, torch.as_tensor, torch.asarray})
"""What keeps the device of the tensor that it is given."""

SHARING = frozenset({torch.as_tensor, torch.asarray})
"""What shares the memory of an array, if the tensor is to lie on the CPU."""


def make(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call what was given a device, or a generator.

    Raises:
        RuntimeError: the generator is of another device; the text is CUDA's.
    """
    from runtime_guard.virtual.dispatch.running import (
        DISPATCHED,
        common_device,
        place_all,
        run,
    )

    given = dict(kwargs)
    wanted = given.pop("device", None)
    if wanted is None:
        device = common_device(args)
        device = device if isinstance(device, torch.device) else None
    else:
        device = resolved(wanted)
    if given.get("generator") is not None:
        given["generator"] = _real(given["generator"], device or CPU)
    if wanted is None:
        return run(func, args, given) if "generator" not in given else _drawn(func, args, given)
    if device is not None and device.type not in ("cpu", machine().name):
        return func(*args, **given, device=device)
    if device is not None and common_device(args) is DISPATCHED:
        return func(*args, **given, device=device)
    made = func(*args, **given, device=CPU)
    if device is not None and is_virtual(device):
        place_all(made, device)
    return made


def _drawn(func: Any, args: tuple[Any, ...], given: dict[str, Any]) -> Any:
    from runtime_guard.virtual.dispatch.running import common_device, place_all

    device = common_device(args)
    made = func(*args, **given)
    if isinstance(device, torch.device):
        place_all(made, device)
    return made


def _real(generator: Any, device: torch.device) -> torch.Generator:
    from runtime_guard.virtual.namespaces.generators import checked

    real: torch.Generator = checked(generator, device)
    return real


def construct(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a constructor of torch: without a device it follows the default."""
    given = dict(kwargs)
    wanted = given.pop("device", None)
    if wanted is None:
        wanted = _device.CURRENT_DEVICE
    data = args[0] if args else given.get("data", given.get("obj"))
    source = seen_device(data) if func in KEEPING and isinstance(data, Tensor) else None
    if wanted is None and source is None:
        source = _of_parts(func, args, given)
    device = resolved(wanted) if wanted is not None else source or CPU
    if "generator" in given and given["generator"] is not None:
        given["generator"] = _real(given["generator"], device)
    if device.type not in ("cpu", machine().name):
        return func(*args, **given, device=device)
    if "sparse" in func.__name__ and device != CPU:
        args = tuple(_brought(one, device) for one in args)
        given = {name: _brought(one, device) for name, one in given.items()}
    made = _called(func, args, given, device)
    if func in SHARING and isinstance(data, Tensor) and source != device:
        return moved(made, device)
    if device != CPU and func in SHARING and not isinstance(data, Tensor):
        made = made.clone()
    return _placed(made, device, data)


def _called(func: Any, args: tuple[Any, ...], given: dict[str, Any], device: torch.device) -> Any:
    try:
        return func(*args, **given, device=CPU)
    except RuntimeError as error:
        missing = re.search(r"can't allocate memory: you tried to allocate (\d+) bytes", str(error))
        if missing is None or not is_virtual(device):
            raise
        account = machine().accounts[device.index]
        raise refusal(account, device, int(missing[1])) from None


def _placed(made: Any, device: torch.device, data: Any) -> Any:
    """Place what was made; what shares the memory of its source already has its mark, or none."""
    shares = isinstance(data, Tensor) and made.layout is torch.strided and _shares(made, data)
    if shares:
        return made
    return keep_on_host(made) if device == CPU else place(made, device)


def _shares(made: Tensor, data: Tensor) -> bool:
    if data.layout is not torch.strided:
        return False
    try:
        return bool(made.untyped_storage().data_ptr() == data.untyped_storage().data_ptr() != 0)
    except (NotImplementedError, RuntimeError):
        return False


def _of_parts(func: Any, args: tuple[Any, ...], given: dict[str, Any]) -> torch.device | None:
    """A sparse tensor lives where its values do.

    Raises:
        RuntimeError: the indices of a sparse tensor lie elsewhere than its values.
    """
    if "sparse" not in func.__name__:
        return None
    parts = [*args, given.get("indices"), given.get("values")]
    tensors = [part for part in parts if isinstance(part, Tensor)]
    places = [seen_device(part) for part in tensors]
    if func is torch.sparse_coo_tensor and len({place.type for place in places}) > 1:
        indices, values = (place.type.upper() for place in places[:2])
        words = f"backend of indices ({indices}) must match backend of values ({values})"
        raise RuntimeError(words)
    return places[-1] if places else None


def _brought(part: Any, device: torch.device) -> Any:
    """A part of a sparse tensor, which is copied to where that is to lie."""
    is_elsewhere = isinstance(part, Tensor) and seen_device(part) != device
    return moved(part, device) if is_elsewhere else part


HANDLERS.update(dict.fromkeys(_device._device_constructors(), construct))


@handles(torch.device)
def _named(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> torch.device:
    """An index alone names the machine's accelerator."""
    word = args[0] if args else kwargs.get("device", kwargs.get("type"))
    if type(word) is int and len(args) < 2 and "index" not in kwargs:
        return torch.device(machine().name, word)
    device: torch.device = func(*args, **kwargs)
    return device

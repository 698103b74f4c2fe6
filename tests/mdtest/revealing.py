"""Where a value really lies, and whether `# revealed` says so."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

HOST = (bool, int, float, complex, str, bytes, np.ndarray, np.generic, torch.Size, torch.dtype)
_DEVICE_OF = "the device of "
_NUMBERED = re.compile(r" \(\d+\)$")


def devices_of(value: Any) -> frozenset[str]:
    """The devices on which a value, or what it holds, lies; `host` for what has none."""
    return frozenset(_devices(value))


def _devices(value: Any) -> Iterator[str]:
    if isinstance(value, HOST):
        yield "host"
    elif isinstance(value, torch.device):
        yield str(value)
    elif isinstance(value, Mapping):
        yield from _devices(tuple(value.values()))
    elif isinstance(value, (list, tuple, set, frozenset)):
        inside = [device for one in value for device in _devices(one)]
        yield from [one for one in inside if one != "host"] or inside
    elif hasattr(value, "device"):
        yield str(value.device)
    else:
        yield from _devices_held(value)


def _devices_held(value: Any) -> Iterator[str]:
    """Of what is no tensor and no container, and yet holds tensors."""
    if isinstance(value, nn.Module):
        yield from _devices([*value.parameters(), *value.buffers()])
    elif isinstance(value, torch.optim.Optimizer):
        yield from _devices([group["params"] for group in value.param_groups])
    elif isinstance(value, TensorDataset):
        yield from _devices(value.tensors)
    elif isinstance(value, (DataLoader, Dataset)):
        with contextlib.suppress(StopIteration):
            yield from _devices(next(iter(value)))


def is_met(message: str, value: Any, frame: FrameType) -> bool:
    """Whether the value lies where the message says; what has no place lies anywhere."""
    said = _said(message, frame)
    return said is None or all(
        any(_same(one, device) for one in said) for device in devices_of(value)
    )


def _said(message: str, frame: FrameType) -> frozenset[str] | None:
    """The devices that a message means; None where it names what is not in sight.

    It is a device itself, or the expression which an unread device comes from; one of several
    such values of one name, `x (2)`, is not in sight.
    """
    words = message.removeprefix(_DEVICE_OF)
    if words == message and _is_device(message.partition(":")[0]):
        return frozenset([message])
    if _NUMBERED.search(words):
        return None
    try:
        value = eval(words, frame.f_globals, frame.f_locals)
    except (NameError, AttributeError, SyntaxError):
        return None
    return devices_of(value if words != message else torch.device(value))


def _is_device(word: str) -> bool:
    return word in ("host", "cpu", "cuda", "mps", "xpu", "meta")


def _same(said: str, device: str) -> bool:
    """Whether two names are one device: an index that is not said is any."""
    (kind, _, index), (other, _, number) = said.partition(":"), device.partition(":")
    return kind == other and (not index or not number or index == number)

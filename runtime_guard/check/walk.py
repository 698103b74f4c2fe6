"""Tensors inside the values that modules are given, and the same values with some replaced."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

DEEPEST = 12
"""Deeper than any batch is nested: it ends the walk through a value that holds itself."""

Part: TypeAlias = tuple[str, Any]


def tensors_in(value: object, path: str, depth: int = 0) -> Iterator[tuple[str, Tensor]]:
    """Every tensor in `value`, with the way to it as Python would write it: `batch["mask"][0]`.

    Goes into tuples, lists, named tuples, mappings (those of libraries too), dataclasses and
    packed sequences; of the last only the data, since `batch_sizes` lies on the CPU by contract.
    """
    if isinstance(value, Tensor):
        yield path, value
    elif depth < DEEPEST:
        for name, part in _parts(value):
            yield from tensors_in(part, path + name, depth + 1)


def with_replaced(value: Any, replace: Callable[[Tensor], Tensor], depth: int = 0) -> Any:
    """`value` with each tensor that `replace` changes; itself where it changes none.

    The user's own containers are never written to: what holds a replaced tensor is a copy.
    """
    if isinstance(value, Tensor):
        return replace(value)
    if depth >= DEEPEST:
        return value
    old = _parts(value)
    new = [with_replaced(part, replace, depth + 1) for _, part in old]
    if all(part is before for part, (_, before) in zip(new, old, strict=True)):
        return value
    return _rebuilt(value, new)


def _parts(value: Any) -> list[Part]:
    if value is None or isinstance(value, (str, bytes, int, float)):
        return []
    if isinstance(value, PackedSequence):
        return [(".data", value.data)]
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return [(f".{name}", part) for name, part in zip(value._fields, value, strict=False)]
    if isinstance(value, (tuple, list)):
        return [(f"[{index}]", part) for index, part in enumerate(value)]
    if _is_mapping(value):
        return _items(value)
    if _is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
        return [(f".{name}", getattr(value, name, None)) for name in names]
    return []


def _is_dataclass(value: object) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def _is_mapping(value: object) -> bool:
    """Whether it holds named values; a graph of a library does, without being a `Mapping`."""
    if isinstance(value, Mapping):
        return True
    kind = type(value)
    return all(hasattr(kind, name) for name in ("keys", "__getitem__", "to"))


def _items(value: Any) -> list[Part]:
    # A library's mapping may compute its values, and fail; the run it is part of must not.
    try:
        keys: Iterable[Any] = value.keys() if callable(value.keys) else value.keys
        return [
            (f'["{key}"]' if isinstance(key, str) else f"[{key!r}]", value[key]) for key in keys
        ]
    except Exception:  # noqa: BLE001
        return []


def _rebuilt(value: Any, parts: list[Any]) -> Any:
    if isinstance(value, PackedSequence):
        return value.to(parts[0].device)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*parts)
    if isinstance(value, (tuple, list)):
        return type(value)(parts)
    fresh = copy.copy(value)
    if _is_mapping(value):
        for key, part in zip(list(value.keys()), parts, strict=True):
            fresh[key] = part
        return fresh
    for field, part in zip(dataclasses.fields(value), parts, strict=True):
        object.__setattr__(fresh, field.name, part)
    return fresh

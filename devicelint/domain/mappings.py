"""What two mappings say alike, and what one of them says beyond the other."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, TypeVar

_Key = TypeVar("_Key")
_Answer = TypeVar("_Answer")


def common(one: Mapping[_Key, _Answer], other: Mapping[_Key, _Answer]) -> Mapping[_Key, _Answer]:
    """What two mappings say alike; views of items would hash each key several times."""
    return {key: answer for key, answer in one.items() if other.get(key, _NOWHERE) == answer}


def beyond(
    one: Mapping[Hashable, Hashable], other: Mapping[Hashable, Hashable]
) -> frozenset[tuple[Hashable, Hashable]]:
    """What one mapping says and another does not."""
    return frozenset(item for item in one.items() if other.get(item[0], _NOWHERE) != item[1])


_NOWHERE: Any = object()

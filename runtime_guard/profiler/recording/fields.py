"""The keys of a JSON object, each of the type that is expected there."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

LARGEST = 2**63
"""No number of a recording comes near it, and sums of such numbers can be printed."""

T = TypeVar("T")
Content = Mapping[str, Any]


class FieldError(ValueError):
    """A key that is missing, or whose value is of another type; the message says which."""


def text(content: Content, key: str) -> str:
    """Return a string."""
    value = present(content, key)
    if not isinstance(value, str) or "\0" in value:
        raise _unfit(key, value, "text")
    return value


def count(content: Content, key: str) -> int:
    """Return a whole number, 0 or more."""
    value = present(content, key)
    if type(value) is not int or not 0 <= value < LARGEST:
        raise _unfit(key, value, "a whole number")
    return value


def number(content: Content, key: str) -> float:
    """Return a finite number, 0 or more."""
    value = present(content, key)
    if type(value) not in (int, float) or not 0 <= value < LARGEST:
        raise _unfit(key, value, "a number")
    return float(value)


def flag(content: Content, key: str) -> bool:
    """Return True or False."""
    value = present(content, key)
    if not isinstance(value, bool):
        raise _unfit(key, value, "true or false")
    return value


def mapping(content: Content, key: str) -> dict[str, Any]:
    """Return an object; what is in it is not looked at."""
    value = present(content, key)
    if not isinstance(value, dict):
        raise _unfit(key, value, "an object")
    return value


def each(content: Content, key: str, read: Callable[[Content, str], T]) -> list[T]:
    """Return a list, each of whose items `read` accepts."""
    value = present(content, key)
    if not isinstance(value, list):
        raise _unfit(key, value, "a list")
    return [read({key: item}, key) for item in value]


def all_in(content: Content, key: str, read: Callable[[Content, str], T]) -> dict[str, T]:
    """Return an object, each of whose values `read` accepts."""
    found = mapping(content, key)
    return {text({key: name}, key): read(found, name) for name in found}


def or_none(content: Content, key: str, read: Callable[[Content, str], T]) -> T | None:
    """Return what `read` accepts, or None where the value is null."""
    return None if present(content, key) is None else read(content, key)


def present(content: Content, key: str) -> Any:
    """Return the value, of whatever type."""
    if key not in content:
        raise FieldError(f'there is no "{key}"')
    return content[key]


def _unfit(key: str, value: object, expected: str) -> FieldError:
    written = json.dumps(value)
    written = written if len(written) <= 40 else f"{written[:40]}…"
    return FieldError(f"{json.dumps(key)} is {written}, expected {expected}")

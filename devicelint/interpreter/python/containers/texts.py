"""Methods of texts that are known: `"cpu".startswith("cuda")` is false."""

from __future__ import annotations

from collections.abc import Sequence

from devicelint.domain.devices import DEVICE_TYPES, Known
from devicelint.domain.history import Site
from devicelint.domain.values import Const, DeviceHandle, Tuple, Value

_PLAIN = frozenset(
    {
        *("casefold", "endswith", "isalpha", "isdecimal", "isdigit", "isnumeric", "lower"),
        *("lstrip", "removeprefix", "removesuffix", "replace", "rstrip", "startswith"),
        *("strip", "title", "upper"),
    }
)
"""Methods whose result is a text, or an answer, and depends on nothing else."""


def worked_out(receiver: Value, name: str, given: Sequence[Value]) -> Const | None:
    """What a method of a text gives; None unless all of it is known."""
    if name not in _PLAIN or not isinstance(receiver, Const):
        return None
    if not isinstance(receiver.value, str):
        return None
    plain = [_plain(one) for one in given]
    if None in plain:
        return None
    try:
        return Const(getattr(receiver.value, name)(*plain))
    except TypeError:
        return None


def numbered_device(text: Value, site: Site) -> DeviceHandle | None:
    """The device that a text names once a number is put into it: `"cuda:%d"`, `"cuda:{}"`."""
    if not (isinstance(text, Const) and isinstance(text.value, str)):
        return None
    kind, colon, rest = text.value.partition(":")
    if not colon or kind not in DEVICE_TYPES or rest not in _NUMBER:
        return None
    return DeviceHandle(Known(kind, computed=True), site, is_object=False)


_NUMBER = frozenset({"", "%d", "%s", "%i", "{}", "{:d}", "{0}"})


def _plain(value: Value) -> str | int | tuple[str, ...] | None:
    """A text, a number, or one of several texts."""
    if isinstance(value, Tuple):
        parts = [_plain(one) for one in value.items]
        texts = tuple(one for one in parts if isinstance(one, str))
        return texts if len(texts) == len(parts) else None
    held = value.value if isinstance(value, Const) else None
    return held if isinstance(held, (str, int)) else None

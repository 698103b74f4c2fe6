"""Methods of texts that are known: `"cpu".startswith("cuda")` is false."""

from __future__ import annotations

from collections.abc import Sequence

from devicelint.domain.values import Const, Tuple, Value

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


def _plain(value: Value) -> str | int | tuple[str, ...] | None:
    """A text, a number, or one of several texts."""
    if isinstance(value, Tuple):
        parts = [_plain(one) for one in value.items]
        texts = tuple(one for one in parts if isinstance(one, str))
        return texts if len(texts) == len(parts) else None
    held = value.value if isinstance(value, Const) else None
    return held if isinstance(held, (str, int)) else None

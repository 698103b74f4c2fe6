"""Which containers hold which: what follows values into containers has to come to an end."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from devicelint.domain.values import DictOf, ListOf, OneOf, Ref, Stream, Tuple, Value


def holds(value: Value, ref: Ref, fields: Callable[[Ref], Mapping[str, Value]]) -> bool:
    """Whether a value is the container at `ref`, or in it, or in a container in it, and so on."""
    waiting, seen = [value], set[Ref]()
    while waiting:
        match waiting.pop():
            case ListOf(inner) | DictOf(inner):
                if inner == ref:
                    return True
                if inner not in seen:
                    seen.add(inner)
                    waiting.extend(fields(inner).values())
            case Tuple(items) | OneOf(items):
                waiting.extend(items)
            case Stream(element):
                waiting.append(element)
            case _:
                pass
    return False

"""The arguments of a call, evaluated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from devicelint.domain.history import Site
from devicelint.domain.values import Value


class Argument(NamedTuple):
    """A value and the expression that gave it."""

    site: Site
    value: Value


@dataclass(slots=True)
class Arguments:
    """Positional and keyword arguments; `open` when a star hides how many there are."""

    positional: list[Argument] = field(default_factory=list)
    keywords: dict[str, Argument] = field(default_factory=dict)
    open: bool = False
    spread: list[Argument] = field(default_factory=list)
    """What `**` brought under names that are not known."""
    unpacked: list[Value] = field(default_factory=list)
    """The containers that `*` unpacked, where nobody knows how much is in them."""
    may_name: bool = False
    """Whether `**` may bring anything under the names of parameters that are not given."""
    uncounted: bool = False
    """Whether `*` brought what stands for more than there is of it."""

    def get(self, position: int, name: str) -> Argument | None:
        """The argument of a parameter, however it was given."""
        if position < len(self.positional):
            return self.positional[position]
        return self.keywords.get(name)

    def __iter__(self) -> Iterator[Argument]:
        yield from self.positional
        yield from self.keywords.values()

    def values(self) -> tuple[object, ...]:
        """What was given, so that two calls can be compared."""
        named = ((name, argument.value) for name, argument in self.keywords.items())
        return (*(argument.value for argument in self.positional), *named, self.open)

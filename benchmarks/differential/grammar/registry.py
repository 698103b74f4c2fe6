"""The table of features, and how a body is filled with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.differential.writer import BODY, FUNCTION, Writer

HEAD = "head"
"""Where the program chooses its device."""
PART = "part"
"""Inside of a class of modules: its `__init__` and `forward`."""

EVERYWHERE = (BODY, FUNCTION)


@dataclass(frozen=True)
class Feature:
    """A part of the grammar.

    Attributes:
        name: the mark of its lines.
        weight: how often it is chosen, beside the others.
        places: where it may stand.
        write: writes it.
        ready: whether what it needs is in sight.
    """

    name: str
    weight: int
    places: tuple[str, ...]
    write: Callable[[Writer], None]
    ready: Callable[[Writer], bool]


FEATURES: dict[str, Feature] = {}
PLAINEST = ("create", "device-ternary", "part-linear")
"""What a shrinker turns the others into."""

_BY_PLACE: dict[str, list[Feature]] = {}


def _always(writer: Writer) -> bool:  # noqa: ARG001
    return True


def feature(
    name: str,
    weight: int = 10,
    *places: str,
    ready: Callable[[Writer], bool] = _always,
) -> Callable[[Callable[[Writer], None]], Callable[[Writer], None]]:
    """Put a function into the table; without places, it may stand in any body."""

    def put(write: Callable[[Writer], None]) -> Callable[[Writer], None]:
        entry = Feature(name, weight, places or EVERYWHERE, write, ready)
        if name in FEATURES:
            raise ValueError(f"two features are called {name}")
        FEATURES[name] = entry
        for place in entry.places:
            _BY_PLACE.setdefault(place, []).insert(0 if name in PLAINEST else 1000, entry)
        return write

    return put


def write_one(writer: Writer, place: str | None = None, *, begun: bool = False) -> None:
    """Write one feature that can stand here, in a block of choices of its own or one begun."""
    able = [entry for entry in _BY_PLACE[place or writer.frame.place] if entry.ready(writer)]
    if not begun:
        writer.begin()
    chosen = writer.weighted(able, [entry.weight for entry in able])
    with writer.feature(chosen.name):
        chosen.write(writer)


def fill(writer: Writer, most: int = 3) -> None:
    """Write a few features into a body, fewer the deeper it lies."""
    left = min(most, 4 - writer.depth)
    write_one(writer)
    while left > 1 and not writer.full and writer.sometimes(50):
        write_one(writer)
        left -= 1


def can_nest(writer: Writer) -> bool:
    """Whether a body may be opened here."""
    return writer.depth < 3 and not writer.full

"""Values that hold others: lists, dicts, tuples, streams, loaders."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devicelint.domain.history import Site

if TYPE_CHECKING:
    from devicelint.domain.values import Value
    from devicelint.domain.values.objects import Ref


Fact = tuple[Hashable, Hashable]
"""A question that the code asked, and the answer to it on a path."""
Path = frozenset[Fact]
"""What holds on a path, and not on others."""


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of several values, by the path taken."""

    options: tuple[Value, ...]
    paths: tuple[Path, ...] = field(default=(), compare=False, repr=False)
    """What holds where the value is each of these."""


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list or a set; what it holds lies in the state."""

    ref: Ref
    site: Site = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DictOf:
    """A dict; what it holds lies in the state."""

    ref: Ref
    site: Site = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Tuple:
    """A tuple of known length; that of a `namedtuple` has names for its items."""

    items: tuple[Value, ...]
    names: tuple[str, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Stream:
    """Something to iterate over: a generator, `enumerate(loader)`, `batch.values()`."""

    element: Value
    filled: bool = field(default=False, compare=False)
    """Whether there is at least one element for sure."""
    parts: tuple[Value, ...] = ()
    """The elements in order, where they are told apart."""
    first: Value | None = field(default=None, compare=False)
    """What the first iteration gets, where it is known to get something else."""


@dataclass(frozen=True, slots=True)
class Loader:
    """A DataLoader: `item` is the batch that it yields."""

    item: Value
    pinned: bool
    site: Site = field(compare=False, repr=False)
    dataset: Value | None = field(default=None, compare=False, repr=False)
    collate: Value | None = field(default=None, compare=False, repr=False)
    """The program's own code, which runs where the loader is iterated."""

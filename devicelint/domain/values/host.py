"""Values without a device: constants, numbers, flags, and what comes from outside."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from enum import Enum

from devicelint.domain.history import Site, Step


class FileSource(Enum):
    """Where a file comes from, as far as its path shows."""

    PUBLISHED = "somebody has published it, for every machine"
    PROGRAM = "it lies beside the program, and is part of it"
    RUN = "this very run writes it"
    CHOSEN = "an option or a caller names it"


@dataclass(frozen=True, slots=True)
class Unknown:
    """Not understood, and why.  Agrees with everything.

    What code gives that nobody sees has a device of its own all the same, should it be a tensor:
    that of the step `symbol`.
    """

    reason: str = field(compare=False)
    symbol: Step | None = field(default=None, repr=False)
    source: FileSource | None = field(default=None, compare=False, repr=False)
    """Should it be a path: where the file comes from, where that is known."""
    unread: tuple[str, str] | None = field(default=None, compare=False, repr=False)
    """The file of the project that has it, and its name there, which nobody has walked."""


@dataclass(frozen=True, slots=True)
class Const:
    """A Python constant; `site` is the literal."""

    value: Hashable
    site: Site = field(default=None, compare=False, repr=False)
    chosen: bool = field(default=False, compare=False, repr=False)
    """Whether it stands under a condition, or is an offer: somebody's choice, not hard-coded."""

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Const)
            and type(self.value) is type(other.value)
            and self.value == other.value
        )

    def __hash__(self) -> int:
        return hash(self.value)


NONE = Const(None)


TRUE = Const(True)


FALSE = Const(False)


@dataclass(frozen=True, slots=True)
class HostValue:
    """A Python number, string or other value without a device."""

    source: FileSource | None = field(default=None, compare=False)
    """Where the file comes from, where this is a path and that is known."""
    name: str | None = field(default=None, compare=False)
    """What the text is, as far as the code spells it; `*` stands for what is put into it."""
    least: int | None = None
    """What this is at least, where it is a number of which no more is known."""
    given: frozenset[str] = field(default=frozenset(), compare=False, repr=False)
    """The settings that are put into the text."""


HOST = HostValue()


@dataclass(frozen=True, slots=True)
class Array:
    """A numpy array."""


ARRAY = Array()


@dataclass(frozen=True, slots=True)
class HostObject:
    """An object of a library that works on the host: an estimator, the axes of a figure.

    `name` is what its methods are listed under: `sklearn.manifold.TSNE`.
    """

    name: str


@dataclass(frozen=True, slots=True)
class Flag:
    """A condition that the code does not decide, but that stays the same: `args.cuda`."""

    key: str
    negated: bool = False

    def __invert__(self) -> Flag:
        return Flag(self.key, not self.negated)


@dataclass(frozen=True, slots=True)
class Symbolic:
    """An object that comes from outside: a parameter, `args`, or an attribute of one.

    The same origin is the same object.  `parameter` names the parameter it was received as.
    """

    origin: str
    parameter: str = ""
    since: Step | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ImportedName:
    """Something imported, by its full name: `torch.nn.functional`."""

    name: str
    chosen: bool = field(default=False, compare=False, repr=False)
    """Whether it was picked under a condition."""
    of: Step | None = field(default=None, compare=False, repr=False)
    """Of `x.dtype`: how `x` came."""


@dataclass(frozen=True, slots=True)
class ProjectModule:
    """A file or folder of the project, imported whole; `home` is where its names lie."""

    home: str


@dataclass(frozen=True, slots=True)
class Imported:
    """A name imported from another file of the project, which is walked once it is asked for."""

    home: str
    name: str

"""What is announced about moves that the program makes under conditions of its own."""

from __future__ import annotations

from dataclasses import dataclass, field

from devicelint.domain.events import Event
from devicelint.domain.history import Site


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition that decides about nothing but moves: without them, both paths are the same."""

    site: Site = field(repr=False)
    """The `if`, or the conditional expression."""
    kept: Site = field(repr=False)
    """The branch that can stand for both."""
    moves: tuple[Site, ...] = field(repr=False)
    """The calls in it that go to the accelerator."""
    taken: tuple[Site, ...] = field(default=(), repr=False)
    """The first or last statements of the branch that are all that may be taken out of it."""
    repeated: Site = field(default=None, repr=False)
    """The statement behind it that says the same without the moves: `return x`."""


@dataclass(frozen=True, slots=True)
class ChosenType:
    """`Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor`, and what it is used for."""

    site: Site = field(repr=False)
    """What chooses it."""
    statement: Site = field(repr=False)
    on_cpu: str
    """What is chosen without an accelerator, as it is written: `torch.FloatTensor`."""
    dtype: str
    made: tuple[Site, ...] = field(repr=False)
    """The calls of it, which make tensors."""
    converted: tuple[Site, ...] = field(repr=False)
    """The calls of `.type(…)` that are given it."""


@dataclass(frozen=True, slots=True)
class Condition:
    """What the guards ask, and where it is known."""

    code: str
    """As an expression that is true where the moves are made."""
    asks_machine: bool
    """Whether it asks for an accelerator, and for nothing else."""
    known_after: Site = field(default=None, repr=False)
    """The statement that settles it."""
    known_from: Site = field(default=None, repr=False)
    """The first statement that needs it in the function that is given it."""
    prefix: str = ""
    """`self.` where it is kept in an object."""
    spelled_out: str = ""
    """What it comes to, where nothing else needs its name: it can stand in its place."""


@dataclass(frozen=True, slots=True)
class GuardedMoves(Event):
    """Moves to an accelerator that are made under one condition, wherever that is asked."""

    site: Site = field(repr=False)
    """The first guard."""
    condition: Condition
    scope: Site = field(repr=False)
    """Where the names of the condition have their values."""
    device: str
    """The one accelerator that they go to, such as "cuda"."""
    guards: tuple[Guard, ...]
    types: tuple[ChosenType, ...]
    """The types of tensors that are chosen by it."""
    held: str | None
    """What holds the device that this condition chooses, where it is in sight of all guards."""
    name: str | None
    """A name that is free for it."""
    at_top: bool = False
    """Whether the device is that of other guards, which ask torch directly."""

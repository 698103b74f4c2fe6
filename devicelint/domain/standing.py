"""How sure a clash is: what is known of the operand that is not where the other one is."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from enum import Enum

from devicelint.domain.history import Site


class Level(Enum):
    """What is known of the operand that is not where the other one is."""

    CERTAIN = "certain"
    """A known device, or one that the program chooses."""
    CALLED = "called"
    """A caller's device, and a call in the project that says which."""
    OWN_RULE = "own rule"
    """What the code itself shows elsewhere: it moves such a value, or treats it as movable."""
    MODULE = "module"
    """A caller's device, inside a Module."""
    POSSIBLE = "possible"
    """A caller's device, and nothing that says which."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The level of a clash, and what would raise it."""

    level: Level
    symbols: frozenset[Site] = field(default=frozenset(), repr=False)
    """What the operands come from: where any of it is treated as movable, that is a rule."""

    def given(self, movable: Collection[Site]) -> Level:
        """The level, once it is known what the code treats as movable."""
        if self.level is Level.POSSIBLE and any(one in movable for one in self.symbols):
            return Level.OWN_RULE
        return self.level


CERTAIN = Standing(Level.CERTAIN)

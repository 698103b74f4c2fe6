"""Verdicts: how sure a clash of devices is, on what grounds, and what excuses it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from devicelint.domain.events import Event, Operand
from devicelint.domain.history import Site


class Level(Enum):
    """What is known of the operand that is not where the other one is."""

    CERTAIN = "certain"
    """A known device, or one that the program chooses."""
    CALLED = "called"
    """A caller's device, and a call in the project that says which."""
    OWN_RULE = "own rule"
    """What the code itself shows elsewhere: it moves such a value, or treats it as moved."""
    MODULE = "module"
    """A caller's device, inside a Module."""
    POSSIBLE = "possible"
    """A caller's device, and nothing that says which."""


@dataclass(frozen=True, slots=True)
class Excuse:
    """Why a clash is not reported: a name for the case, and the reason as a sentence."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is held of a clash; without an excuse, it is reported."""

    level: Level
    evidence: tuple[Operand, ...]
    excuses: tuple[Excuse, ...]


@dataclass(frozen=True, slots=True)
class Judged(Event):
    """A clash was judged; announced only where somebody asks why."""

    site: Site = field(repr=False)
    what: str
    """What happens there: an operation, a call of a module, a reading as an array."""
    verdict: Verdict

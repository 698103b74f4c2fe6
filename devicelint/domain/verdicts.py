"""Verdicts: how sure a clash of devices is, on what grounds, and what excuses it."""

from __future__ import annotations

from dataclasses import dataclass, field

from devicelint.domain.events import Event, Operand
from devicelint.domain.history import Site
from devicelint.domain.standing import Standing


@dataclass(frozen=True, slots=True)
class Excuse:
    """Why a clash is not reported: a name for the case, and the reason as a sentence."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is held of a clash; without an excuse, it is reported unless it is only possible."""

    standing: Standing
    evidence: tuple[Operand, ...]
    excuses: tuple[Excuse, ...]


@dataclass(frozen=True, slots=True)
class Judged(Event):
    """A clash was judged; announced only where somebody asks why."""

    site: Site = field(repr=False)
    what: str
    """What happens there: an operation, a call of a module, a reading as an array."""
    verdict: Verdict

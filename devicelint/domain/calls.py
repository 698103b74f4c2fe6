"""Calls across a project: what its files give to a function."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum

from devicelint.domain.history import Site


class Given(Enum):
    """Where something is that a call gives."""

    HOST = "on the host"
    """On the CPU, or nothing that could be elsewhere: an array, a number, None."""
    ACCELERATOR = "on an accelerator"
    """On an accelerator that the code names."""
    CHOSEN = "on a device that is chosen"
    """Where the program, or somebody, chooses to compute."""
    INPUT = "an input of a Module"
    """Where a Module's caller has what it computes with."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Call:
    """What one call gives to one parameter, on one machine."""

    given: Given
    site: Site = field(compare=False, repr=False)


NOT_SEEN = Call(Given.UNKNOWN, None)
"""One that nobody has looked at."""


@dataclass(frozen=True, slots=True)
class Called:
    """What all calls that are seen say of a parameter."""

    shows: Call | None = None
    """One that gives it what is on an accelerator, or may be."""
    chosen: Call | None = None
    """One that gives it what is where somebody chooses to compute."""
    is_on_host: bool = False
    """Whether there are some, and all of them give it what is on the host."""


def said_by(calls: Iterable[Call]) -> Called:
    """What calls say of the parameter that they give something."""
    found = tuple(calls)
    of_kind = {call.given: call for call in reversed(found)}
    chosen = of_kind.get(Given.CHOSEN)
    for kind in (Given.ACCELERATOR, Given.CHOSEN, Given.INPUT):
        if kind in of_kind:
            return Called(of_kind[kind], chosen)
    is_on_host = bool(found) and all(call.given is Given.HOST for call in found)
    return Called(is_on_host=is_on_host)

"""What ends a walk whose result nobody waits for any more."""

from __future__ import annotations

from collections.abc import Callable

IsAbandoned = Callable[[], bool]


class Abandoned(Exception):
    """Nobody wants to know any more what a walk would show."""

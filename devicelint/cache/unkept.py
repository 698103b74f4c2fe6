"""What is found in a run that keeps nothing for later ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from devicelint.cache import Asked, Cache


class UnkeptResults(Cache):
    """The results of the processes of one run, which nobody compares with anything later."""

    keeps = False

    def __init__(self) -> None:
        """Know nothing yet."""
        super().__init__(None)
        self._results: dict[tuple[str, str], tuple[str, Any]] = {}

    def look_again(self) -> None:
        """Take no file for what it was before."""
        self._results.clear()

    def get(self, home: str, content: str, key: str) -> Any:
        """What a process has found in a file with this content; None where it has not."""
        was, found = self._results.get((home, key), ("", None))
        return found if was == content else None

    def put(self, home: str, content: str, key: str, found: Any) -> None:
        """Take what was found in a file."""
        self._results[home, key] = content, found

    def learn(self, asked: Asked, digests: Mapping[str, str | None]) -> None:
        """Nobody looks whether that has changed."""

    def settle(self) -> None:
        """Nothing rests on anything."""

    def save(self) -> None:
        """Write nothing."""

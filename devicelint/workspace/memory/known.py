"""What was found out of the files of a project, which holds while what it rests on does."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from devicelint.config import Config
    from devicelint.finding import Finding
    from devicelint.interpreter.callers import Shown


@dataclass(frozen=True)
class KnownResults:
    """What was found out of files, by their homes."""

    shown: dict[str, Shown] = field(default_factory=dict)
    """What the walk of each shows to those who ask about its project."""
    noted: dict[str, Shown] = field(default_factory=dict)
    """The same of files that nobody has asked about yet, and that are at hand."""
    checked: dict[tuple[str, int, Config], Any] = field(default_factory=dict)
    """What was found in each text by itself, for whoever has found it."""
    made_by: dict[tuple[str, Config], Mapping[str, Sequence[Finding]]] = field(default_factory=dict)
    """What is found in the files that a program imports, where it calls what they hold."""

    def copy(self) -> KnownResults:
        """The same, whatever becomes of this one."""
        return KnownResults(*map(dict, self._all()))

    def update(self, other: KnownResults) -> None:
        """Know what another one does as well."""
        for own, more in zip(self._all(), other._all(), strict=True):
            own.update(more)

    def clear(self) -> None:
        """Know nothing."""
        for one in self._all():
            one.clear()

    def forget(self, homes: Container[str]) -> None:
        """Know nothing of some files."""
        for known in self._all():
            for key in [one for one in known if _home_in(one) in homes]:
                del known[key]

    def _all(self) -> tuple[dict[Any, Any], ...]:
        return self.shown, self.noted, self.checked, self.made_by


def _home_in(key: str | tuple[Any, ...]) -> str:
    """The home of what is known by a key that begins with it, or is it."""
    home: str = key if isinstance(key, str) else key[0]
    return home

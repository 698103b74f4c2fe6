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
class Known:
    """What was found out of files, by their homes."""

    shown: dict[str, Shown] = field(default_factory=dict)
    """What the walk of each shows to those who ask about its project."""
    checked: dict[tuple[str, int, Config], Any] = field(default_factory=dict)
    """What was found in each text by itself, for whoever has found it."""
    made_by: dict[tuple[str, Config], Mapping[str, Sequence[Finding]]] = field(default_factory=dict)
    """What is found in the files that a program imports, where it calls what they hold."""

    def copy(self) -> Known:
        """The same, whatever becomes of this one."""
        return Known(dict(self.shown), dict(self.checked), dict(self.made_by))

    def update(self, other: Known) -> None:
        """Know what another one does as well."""
        self.shown.update(other.shown)
        self.checked.update(other.checked)
        self.made_by.update(other.made_by)

    def clear(self) -> None:
        """Know nothing."""
        for one in (self.shown, self.checked, self.made_by):
            one.clear()

    def forget(self, homes: Container[str]) -> None:
        """Know nothing of some files."""
        for home in [one for one in self.shown if one in homes]:
            del self.shown[home]
        for text in [one for one in self.checked if one[0] in homes]:
            del self.checked[text]
        for program in [one for one in self.made_by if one[0] in homes]:
            del self.made_by[program]

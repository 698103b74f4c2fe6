"""Which other files of a project may use what one of them defines, as they mention its name."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from devicelint.workspace.named_files import NamedFiles
from devicelint.workspace.outsiders import Outsiders
from devicelint.workspace.questions import (
    CALLABLE,
    CALLERS,
    KNOWN,
    LOADERS,
    MENTIONED,
    SAVERS,
    Question,
    joined,
)
from devicelint.workspace.summaries import Files

_MOST = 8
"""How many files are walked to find out what a function is given."""
_ASKED_OF_MANY = 3
"""How many of those that mention it where there are more."""
_SAVING = "save"
"""What whoever saves something mentions."""
CALLED_BY_CLASS = frozenset({"__init__", "__call__", "forward"})
"""What files call without a mention of its name."""


@dataclass(frozen=True)
class Users:
    """The files that mention a name, looked for once for each question."""

    named: NamedFiles
    outsiders: Outsiders
    files: Files
    _answers: dict[tuple[str, Question], str | None] = field(default_factory=dict)

    def forget(self) -> None:
        """Look for everything again."""
        self._answers.clear()

    def answer(self, home: str, root: str, question: Question) -> str | None:
        """The files that are asked, or whether there are any."""
        key = home, question
        if key not in self._answers:
            self._answers[key] = self._looked_for(home, root, question)
        return self._answers[key]

    def _looked_for(self, home: str, root: str, question: Question) -> str | None:
        name, level = question
        if level == SAVERS:
            return joined(self._savers(home, root))
        if level in (CALLERS, LOADERS):
            others = self._others(home, root, name)
            if level == LOADERS or len(others) <= _MOST:
                return joined(others[:_MOST])
            # The empty name at the end stands for those that are not asked.
            return joined((*others[:_ASKED_OF_MANY], ""))
        holds = {
            MENTIONED: self.outsiders.mention,
            CALLABLE: self.outsiders.may_call,
            KNOWN: self._are_known,
        }
        return home if holds[level](home, root, name) else None

    def _are_known(self, home: str, root: str, name: str) -> bool:
        """Whether they are few, and nobody else may call the function."""
        files = self.named.files(root, name)
        if files is None or len(files) > _MOST:
            return False
        return not (self.outsiders.is_open(home, root) or self.outsiders.is_told(root, name))

    def _others(self, home: str, root: str, name: str) -> list[str]:
        return [one for one in self.named.files(root, name) or () if one != home]

    def _savers(self, home: str, root: str) -> list[str]:
        """The other files that save something: where many do, those beside the file."""
        mentioned = self.named.files(root, _SAVING) or ()
        savers = [one for one in mentioned if one != home and self.files.saves(one)]
        if len(savers) > _MOST:
            beside = Path(home).parent
            savers = [one for one in savers if Path(one).parent == beside]
        return savers if len(savers) <= _MOST else []

"""A resolver that notes what it is asked, so that others know on what a result rests."""

from __future__ import annotations

import os

from devicelint.workspace.import_resolver import ImportResolver
from devicelint.workspace.questions import ABOUT, DEMANDED, INSIDE, PLACED, Question, asking
from devicelint.workspace.summaries import Summaries


class RecordingResolver(ImportResolver):
    """Resolves imports, and answers what is asked about a project, and remembers both."""

    def __init__(self, summaries: Summaries | None = None) -> None:
        """Know nothing yet, but for what texts tell that were read before."""
        super().__init__(summaries)
        self.asked: dict[str, dict[Question, str | None]] = {}
        """What was resolved in each file, by its home, and to what."""

    def find(self, importer: str, module: str, level: int) -> str | None:
        """The home of a module that the file `importer` imports; `level` counts the dots."""
        home = super().find(importer, module, level)
        self._asked_in(os.path.abspath(importer))[asking(module, level)] = home
        return home

    def inside(self, home: str, name: str) -> str | None:
        """The home of a submodule of a package."""
        found = super().inside(home, name)
        self._asked_in(home)[asking(name, INSIDE)] = found
        return found

    def about(self, home: str, what: str) -> str | None:
        """The home of a file of the programs around that does something with the machine."""
        found = super().about(home, what)
        self._asked_in(home)[asking(what, ABOUT)] = found
        return found

    def by_name(self, home: str, question: Question) -> str | None:
        """What the files of the project do with a name, as far as they mention it."""
        self._asked_in(home)[question] = found = super().by_name(home, question)
        return found

    def root_of(self, home: str) -> str:
        """The folder of the project to which a file belongs."""
        self._note_place(home)
        return super().root_of(home)

    def is_alone(self, home: str) -> bool:
        """Whether no other file lies beside a file, and nothing marks a project around it."""
        self._note_place(home)
        return super().is_alone(home)

    def _note_place(self, home: str) -> None:
        asked, question = self._asked_in(home), asking("", PLACED)
        if question not in asked:
            asked[question] = self.placed(home)

    def demanded_by(self, home: str, name: str) -> str | None:
        """The home of a file in which a function of one may go to an accelerator."""
        found = super().demanded_by(home, name)
        self._asked_in(home)[asking(name, DEMANDED)] = found
        return found

    def _asked_in(self, home: str) -> dict[Question, str | None]:
        return self.asked.setdefault(home, {})

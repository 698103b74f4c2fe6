"""A project of which somebody is changing files: what a walk has looked at, and what stays true."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

import libcst as cst

from devicelint.interpreter import Program
from devicelint.interpreter.callers import Shown
from devicelint.text.parse import CheckError
from devicelint.text.source import SourceFile
from devicelint.workspace.project import Project, home_of

_WALKED = "@walked"

LookedAt = Mapping[str, cst.Module | None]
"""The trees of the files that a walk has looked at, by their homes; None where there was none."""


class EditedProject(Project):
    """A project that knows which of its files a walk has looked at.

    A file that somebody changes keeps its tree as long as its code stays the same, and with it all
    that was found out of it.
    """

    def __init__(self) -> None:
        """Know nothing yet."""
        super().__init__()
        self._noted: set[str] = set()
        self._shown_with: dict[str, frozenset[str]] = {}

    def take(self, source: SourceFile) -> bool:
        """Hold a text, and say whether its code is the one that was held before."""
        home = home_of(source)
        before = self._held.get(home)
        if before is not None and before.text == source.text:
            return True
        is_same = self._relaid(home, source)
        if not is_same:
            self.hold(source)
        return is_same

    def _relaid(self, home: str, source: SourceFile) -> bool:
        """Keep the tree of a file that is held, where its text differs in its layout alone."""
        known, before = self._programs.get(home), self._parsed_before.get(home)
        if known is None or before is None or before.tree is not known[1].tree:
            return False
        try:
            self._parsed_before[home] = now = before.changed(source)
        except CheckError:
            return False
        relaid = before.relaid(now)
        if relaid is None:
            return False
        self._parsed_before[home] = relaid
        self._held[home] = source
        self.digests[home] = None
        self.made_by.clear()
        self.checked.clear()
        self._keep(home, source.text, replace(known[1], text=source.text, code={}))
        return True

    def program(self, home: str) -> Program | None:
        """The file, parsed, of which a note is taken."""
        self._noted.add(home)
        return super().program(home)

    def shown_by(self, home: str) -> Shown:
        """What the walk of a file shows, and a note of what that has looked at."""
        if home not in self._shown:
            with self.noting() as noted:
                super().shown_by(home)
            self._shown_with[home] = frozenset(self._reached_from(noted))
        self._noted |= self._shown_with[home]
        return super().shown_by(home)

    @contextmanager
    def noting(self) -> Iterator[set[str]]:
        """Gather the files that are looked at meanwhile."""
        outer, inner = self._noted, set[str]()
        self._noted = inner
        try:
            yield inner
        finally:
            self._noted = outer | inner

    def looked_at(self, noted: Iterable[str]) -> LookedAt:
        """The files that were noted, and those whose contents they hold, as they are now."""
        return {home: self._tree_at_hand(home) for home in self._reached_from(noted)}

    def is_as(self, seen: LookedAt) -> bool:
        """Whether the code of some files is what it was."""
        return all(self._tree_at_hand(home) is tree for home, tree in seen.items())

    def _tree_at_hand(self, home: str) -> cst.Module | None:
        """The tree of a file as it is, as far as that was parsed before."""
        known = self._programs.get(home)
        is_current = known is not None and known[0] == self._version(home)
        return known[1].tree if known is not None and is_current else None

    def _reached_from(self, noted: Iterable[str]) -> Iterator[str]:
        """Some files, and those that were walked for what they hold."""
        for home in noted:
            yield home
            known = self._programs.get(home)
            for contents in () if known is None else known[1].walked.values():
                yield from (str(one) for one, held in contents.objects.items() if _WALKED in held)

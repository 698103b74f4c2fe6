"""A project of which somebody is changing files: what a walk has looked at, and what stays true."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

import libcst as cst

from devicelint.interpreter import Program
from devicelint.interpreter.callers import Shown
from devicelint.interpreter.python.computed_members import places_models
from devicelint.text.parse import CheckError
from devicelint.text.reparse import Parsed
from devicelint.text.source import SourceFile
from devicelint.workspace.contents import Version
from devicelint.workspace.project import Project, home_of

_WALKED = "@walked"

LookedAt = Mapping[str, cst.Module | None]
"""The trees of the files that a walk has looked at, by their homes; None where there was none."""

Versions = Mapping[str, "Version | str | None"]
"""The texts of files, or what distinguishes one from the next, by their homes."""


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
        self._unread: set[str] = set()
        """The files that could not be read, or were no Python, when somebody asked for them."""
        self._is_precise = False

    def take(self, source: SourceFile) -> bool:
        """Hold a text, and say whether its code is the one that was held before."""
        home = home_of(source)
        before = self._held.get(home)
        if before is not None and before.text == source.text:
            return True
        known, parsed = self._parsed_files.get(home), self._parsed_before.get(home)
        if known is not None and parsed is not None and parsed.tree is known.program.tree:
            now = _changed(parsed, source)
            if now is not None:
                return self._take_parsed(known.program, source, parsed, now)
        self.hold(source)
        return False

    def _take_parsed(
        self, program: Program, source: SourceFile, before: Parsed, now: Parsed
    ) -> bool:
        """Keep what is known of a file where its layout alone has changed, or of those around."""
        home = home_of(source)
        relaid = before.relaid(now)
        if relaid is None:
            self._parsed_before[home] = now
            is_read = home not in self._unread
            self._is_precise = is_read and places_models(before.tree) == places_models(now.tree)
            self.hold(source)
            self._is_precise = False
            return False
        self._parsed_before[home] = relaid
        self._held[home] = source
        self.digests[home] = None
        self.known.made_by.clear()
        self.known.checked.clear()
        program = replace(program, text=source.text, code={})
        self._parsed_files.keep(home, source.text, program)
        return True

    def _outdate(self, home: str) -> None:
        """Forget what rests on a file that has changed.

        Where nothing but the code of a readable file has, that is what has looked into it: other
        files that import it, in a circle perhaps, hold what they held.
        """
        if not self._is_precise:
            self._unread.discard(home)
            super()._outdate(home)
            return
        self.known.made_by.clear()
        self.known.checked.clear()
        self.known.forget({one for one in self.known.shown if home in self._shown_with[one]})
        for one, (_, program) in self._parsed_files.snapshot().items():
            kept = {
                world: contents
                for world, contents in program.walked.items()
                if one != home and home not in contents.objects
            }
            if len(kept) < len(program.walked):
                self._parsed_files.outdate(one, replace(program, walked=kept))

    def program(self, home: str) -> Program | None:
        """The file, parsed, of which a note is taken."""
        self._noted.add(home)
        program = super().program(home)
        if program is None:
            self._unread.add(home)
        return program

    def shown_by(self, home: str) -> Shown:
        """What the walk of a file shows, and a note of what that has looked at."""
        if home not in self.known.shown:
            with self.noting() as noted:
                super().shown_by(home)
            self._shown_with[home] = frozenset({home, *self._reached_from(noted)})
        self._noted |= self._shown_with[home]
        return super().shown_by(home)

    def note_shown(self, home: str, tree: cst.Module, shown: Shown | None) -> None:
        """Note nothing: nobody has gathered what such a walk has looked at."""

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Go by what was held before once this is over, and by how that was parsed."""
        parsed = {home: self._parsed_before.get(home) for home in self._held}
        shown_with = dict(self._shown_with)
        with super().holding():
            yield
        self._shown_with.update(shown_with)
        self._parsed_before.update((home, one) for home, one in parsed.items() if one is not None)

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

    def versions(self, noted: Iterable[str]) -> Versions:
        """The files that were noted, and those whose contents they hold, word for word."""
        return {home: self._version(home) for home in self._reached_from(noted)}

    def are_as(self, seen: Versions) -> bool:
        """Whether some files say what they said."""
        return all(self._version(home) == version for home, version in seen.items())

    def _tree_at_hand(self, home: str) -> cst.Module | None:
        """The tree of a file as it is, as far as that was parsed before."""
        known = self._parsed_files.get(home)
        is_current = known is not None and known.version == self._version(home)
        return known.program.tree if known is not None and is_current else None

    def _reached_from(self, noted: Iterable[str]) -> Iterator[str]:
        """Some files, and those that were walked for what they hold."""
        for home in noted:
            yield home
            known = self._parsed_files.get(home)
            for contents in () if known is None else known.program.walked.values():
                yield from (str(one) for one, held in contents.objects.items() if _WALKED in held)


def _changed(before: Parsed, source: SourceFile) -> Parsed | None:
    """The tree of another text; None where that is no Python."""
    try:
        return before.changed(source)
    except CheckError:
        return None

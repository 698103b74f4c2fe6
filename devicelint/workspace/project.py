"""The files that imports of a project lead to, as far as they were read so far.

A text that is not written yet is held in place of that on the disk, so that fixes of several files
are checked together before any of them is written.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, KeysView, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

import libcst as cst

from devicelint.domain.calls import NOT_SEEN, Call
from devicelint.domain.checkpoints import WrittenFile
from devicelint.interpreter import Program
from devicelint.interpreter.callers import NOTHING, SeenLoad, Shown, Signature, shown_by
from devicelint.text.hashing import digest
from devicelint.text.parse import CheckError, parse
from devicelint.text.source import SourceError, SourceFile
from devicelint.workspace.contents import Version
from devicelint.workspace.dependencies import answers, imports, reached
from devicelint.workspace.function_users import CALLED_BY_CLASS
from devicelint.workspace.memory.known import KnownResults
from devicelint.workspace.memory.parsed_files import ParsedFile, ParsedFiles
from devicelint.workspace.questions import (
    CALLABLE,
    CALLERS,
    LOADERS,
    SAVERS,
    Question,
    parts_of,
)
from devicelint.workspace.recording import RecordingResolver
from devicelint.workspace.summaries import Summaries

if TYPE_CHECKING:
    from devicelint.text.reparse import Parsed

__all__ = ["Project", "home_of"]

_MOST_LINES_OF_A_FILE = 20_000


def home_of(source: SourceFile) -> str:
    """What the project calls a file."""
    return os.path.abspath(source.path)


class Project(RecordingResolver):
    """The files that imports lead to, each read and parsed once while it does not change."""

    def __init__(self, summaries: Summaries | None = None) -> None:
        """Know nothing yet, but for what texts tell that were read before."""
        super().__init__(summaries)
        self._parsed_files = ParsedFiles(self._forget_noted)
        self._held: dict[str, SourceFile] = {}
        self._parsed_before: dict[str, Parsed] = {}
        """The texts that are held, as they were parsed last."""
        self.digests: dict[str, str | None] = {}
        """What was in each file that was read; None where that was not the same all the time."""
        self.known = KnownResults()
        """What was found out of the files as they are now."""
        self._changes = 0
        """How often a file was not what it had been when it was read."""
        self.editable: frozenset[str] = frozenset()
        """The homes of the files that a fix of another file may change, too."""

    def hold(self, source: SourceFile) -> None:
        """Give the files that import it a text that is not written yet."""
        home = home_of(source)
        before = self._held.get(home)
        self.digests[home] = None
        self._held[home] = source
        if before is None or before.text != source.text:
            self._outdate(home)

    def release(self, path: str) -> None:
        """Go by what is on the disk again."""
        home = os.path.abspath(path)
        if self._held.pop(home, None) is not None:
            self._parsed_before.pop(home, None)
            self._outdate(home)

    def held(self, path: str) -> SourceFile | None:
        """The text that a file is to get, where it waits to be written."""
        return self._held.get(os.path.abspath(path))

    @contextmanager
    def editing(self, sources: Iterable[SourceFile]) -> Iterator[None]:
        """Let fixes change these files, and imports see what is held of them, for a while."""
        before, self.editable = self.editable, frozenset(map(home_of, sources))
        try:
            with self.holding():
                yield
        finally:
            self.editable = before

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Go by what was held before once this is over, and know what was known of that."""
        held, digests = dict(self._held), dict(self.digests)
        known, parsed, changes = self.known.copy(), self._parsed_files.snapshot(), self._changes
        try:
            yield
        finally:
            for home in self._held.keys() | held.keys():
                if home in held:
                    self.hold(held[home])
                else:
                    self.release(home)
                    # Nothing is kept of what was found meanwhile.
                    self.digests.pop(home, None)
                    self.digests |= {home: digests[home]} if home in digests else {}
            if self._changes == changes:
                self.known.update(known)
                self._put_back(parsed)

    def _put_back(self, before: Mapping[str, ParsedFile]) -> None:
        """Keep the files as they were parsed, and walked, before others were held."""
        for home, (version, program) in before.items():
            now = self._parsed_files.get(home)
            if now is not None and now.program is not program and version == self._version(home):
                self._parsed_files.keep(home, version, program)

    def calls_of(self, home: str, function: Signature) -> tuple[Mapping[str, list[Call]], ...]:
        """What the files of a project give to a function of one of them, file by file.

        Of many files that mention it, some are asked, and the others may give it anything.
        """
        named = function[0].partition(".")[0]  # A constructor goes by the name of its class.
        if named in CALLED_BY_CLASS:
            return ()
        asked = parts_of(self.by_name(home, Question(named, CALLERS)))
        given = (self.shown_by(one).calls.get((home, function)) for one in asked if one)
        found = tuple(filter(None, given))
        return (*found, {name: [NOT_SEEN] for name in function[1]}) if "" in asked else found

    def loads_of(self, home: str, called: str, reader: Signature) -> tuple[SeenLoad, ...]:
        """What a function of a file loads where other files call what the file calls `called`."""
        asked = parts_of(self.by_name(home, Question(called, LOADERS)))
        loads = (self.shown_by(one).loads.get((home, reader), ()) for one in asked)
        return tuple(chain.from_iterable(loads))

    def may_call(self, home: str, name: str) -> bool:
        """Whether a file of the project, or anybody else, may call a function of one of them."""
        return name in CALLED_BY_CLASS or self.by_name(home, Question(name, CALLABLE)) is not None

    def written_around(self, home: str) -> Iterator[WrittenFile]:
        """The checkpoints that other files of the project save.

        A file is walked when its turn comes, so that whoever has seen enough leaves the rest.
        """
        for one in parts_of(self.by_name(home, Question("", SAVERS))):
            yield from self.shown_by(one).written

    def shown_by(self, home: str) -> Shown:
        """What the walk of a file shows to those who ask about its project."""
        shown, noted = self.known.shown, self.known.noted.pop(home, None)
        if home not in shown:
            program = None if noted is not None else self.program(home)
            shown[home] = noted or (NOTHING if program is None else shown_by(program))
        return shown[home]

    def note_shown(self, home: str, tree: cst.Module, shown: Shown | None) -> None:
        """Note what the walk of a file has shown that was made to check it, while it is at hand."""
        known = self._parsed_files.get(home)
        if shown is not None and known is not None and known.program.tree is tree:
            self.known.noted[home] = shown

    def _forget_noted(self, home: str) -> None:
        self.known.noted.pop(home, None)

    def imported_from(self, source: SourceFile) -> KeysView[str]:
        """The homes of the files that a file imports, or that these import, as far as was seen.

        They come in the order of their distance.
        """
        return reached(self.asked, home_of(source), imports)

    def rests_on(self, source: SourceFile) -> KeysView[str]:
        """The homes of the files that what is known of a file rests on, whether it imports them."""
        return reached(self.asked, home_of(source), answers)

    def look_again(self) -> None:
        """Notice which files have come and gone, and forget what rests on the others."""
        self._forget_folders()
        self._files.forget()
        self._forget_uses()
        self._forget_answers()
        for home, questions in list(self.asked.items()):
            for question, before in list(questions.items()):
                if self.answer(home, question) != before:
                    self._outdate(home)

    def _forget_answers(self) -> None:
        """Know nothing but what the files say that were read."""
        for one in (self._named, self.outsiders, self._users):
            one.forget()
        self.known.clear()

    def program(self, home: str) -> Program | None:
        """The file, parsed; None for a folder, and for what cannot be read or is no Python."""
        if not home.endswith(".py"):
            return None
        version = self._version(home)
        if version is None:
            return None
        known = self._parsed_files.get(home)
        if known is not None and known.version == version:
            self._parsed_files.use(home)
            return known.program
        if known is not None and isinstance(known.version, Version) and home not in self._held:
            self._changes += 1
            self._forget_answers()
            self._outdate(home)
        if (program := self._read(home)) is not None:
            self._parsed_files.keep(home, version, program)
        return program

    def _version(self, home: str) -> Version | str | None:
        """What changes when the text of a file changes; None where there is no file."""
        return self._held[home].text if home in self._held else Version.of_file(home)

    def _outdate(self, home: str) -> None:
        """Forget what rests on a file that has changed, directly or not."""
        outdated, waiting = {home}, [home]
        while waiting:
            imported = waiting.pop()
            new = {one for one in self.asked if imported in answers(self.asked, one)} - outdated
            outdated |= new
            waiting += new
        self.known.forget(outdated)
        for one in outdated:
            if (known := self._parsed_files.get(one)) is not None:
                self._parsed_files.outdate(one, replace(known.program, walked={}))

    def begin_check(self, source: SourceFile) -> None:
        """Know which file is checked now: what the last checks have used stays parsed."""
        self._parsed_files.begin_check(home_of(source))

    def tree(self, source: SourceFile) -> cst.Module:
        """The tree of a file that is to be checked; the files that import it share it.

        Raises `CheckError` where the file is no Python that libcst can read.
        """
        home = os.path.abspath(source.path)
        is_new = self._parsed_files.get(home) is None
        program = self.program(home) if home.endswith(".py") else None
        if is_new:
            # Most files are imported by none: those that some file imports are kept longer.
            self._parsed_files.needed_once(home)
        is_same = program is not None and program.text == source.text
        return program.tree if program is not None and is_same else parse(source)

    def files(self) -> Iterator[Program]:
        """The files that are at hand, beginning with the one that was asked for last."""
        return self._parsed_files.latest()

    def _read(self, home: str) -> Program | None:
        try:
            source = self._held.get(home) or self._from_disk(home)
            if source.text.count("\n") > _MOST_LINES_OF_A_FILE:
                return None
            return Program(self._parsed(home, source), source.text, home, self, home)
        except (OSError, SourceError, CheckError):
            return None

    def _parsed(self, home: str, source: SourceFile) -> cst.Module:
        """The tree of a file; that of a text which somebody changes comes from the one before."""
        if home not in self._held:
            return parse(source)
        from devicelint.text.reparse import Parsed

        before = self._parsed_before.get(home)
        now = Parsed.of(source) if before is None else before.changed(source)
        self._parsed_before[home] = now
        return now.tree

    def _from_disk(self, home: str) -> SourceFile:
        with open(home, "rb") as file:
            data = file.read()
        found = digest(data)
        self.digests[home] = found if self.digests.get(home, found) == found else None
        return SourceFile.from_bytes(data, home)

"""The analyser at work for a server: it is imported with the first check, not with the server."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import NamedTuple

from devicelint.config import Config
from devicelint.finding import Finding, Fix, InputError
from devicelint.interpreter.engine.budget import Interrupted, interrupted_when
from devicelint.linter import lint
from devicelint.linter.baseline import without_known
from devicelint.linter.fix_one import fix_across_files, fix_one
from devicelint.linter.result import CheckResult
from devicelint.server import garbage
from devicelint.server.analysis import DocumentAnalysis
from devicelint.server.edited_project import EditedProject, LookedAt, Versions
from devicelint.server.open_documents import OpenDocument
from devicelint.text.source import SourceFile
from devicelint.views.abandoned import Abandoned, IsAbandoned
from devicelint.views.editor import FinishedWalk, OwnAnalysis, analyse_alone
from devicelint.workspace.project import home_of


class _Known(NamedTuple):
    """A walk, and what it depends on besides the text."""

    walk: FinishedWalk
    looked_at: LookedAt


class _Led(NamedTuple):
    """What programs make go wrong in a text, and what was read to know it."""

    about: tuple[str, Config]
    findings: tuple[Finding, ...]
    versions: Versions


class Checker:
    """Checks and fixes documents; what they import stays parsed from one check to the next."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._project = EditedProject()
        self._walks: dict[str, _Known] = {}
        """The last walks through the documents, by their homes."""
        self._led_before: dict[str, _Led] = {}

    def analyse(
        self, document: OpenDocument, config: Config, is_abandoned: IsAbandoned
    ) -> DocumentAnalysis:
        """What is found in a document by itself; raises `Abandoned` or InputError."""
        if is_abandoned():
            raise Abandoned
        source, home = document.source, home_of(document.source)
        self._project.take(source)
        if config.excludes_below(document.path):
            return DocumentAnalysis(document)
        known = self._walks.get(home)
        is_same = known is not None and self._holds(known, source, config)
        if known is not None and is_same:
            own = known.walk.again(source, self._project)
        else:
            own = self._walk(source, config, is_abandoned)
        found = without_known(own.checked(), config.baseline).findings
        return DocumentAnalysis(
            document,
            found,
            own.snapshots,
            reached=self._reached(document),
            unfinished=own,
            is_same_code=is_same,
        )

    def _holds(self, known: _Known, source: SourceFile, config: Config) -> bool:
        """Whether nothing has changed that a walk depends on."""
        is_as_before = self._project.is_as(known.looked_at)
        return is_as_before and known.walk.holds_for(source, config, self._project)

    def _walk(self, source: SourceFile, config: Config, is_abandoned: IsAbandoned) -> OwnAnalysis:
        self._walks.pop(home_of(source), None)
        with _interrupted_when(is_abandoned), self._project.noting() as noted:
            own = analyse_alone(source, config, self._project, is_abandoned)
        if own.walk is not None:
            looked_at = self._project.looked_at(noted)
            self._walks[home_of(source)] = _Known(own.walk, looked_at)
        return own

    def finish(self, analysis: DocumentAnalysis, is_abandoned: IsAbandoned) -> DocumentAnalysis:
        """The same with what programs around a document make go wrong in it, once it is saved.

        Raises `Abandoned`; what was found out until then is known the next time.
        """
        own = analysis.unfinished
        if own is None or not own.has_programs:
            return analysis
        checked = own.checked(self._led(own, is_abandoned))
        found = without_known(checked, own.config.baseline).findings
        return replace(
            analysis,
            findings=found,
            reached=self._reached(analysis.document),
            unfinished=None,
            fixed_by={},
        )

    def _led(self, own: OwnAnalysis, is_abandoned: IsAbandoned) -> tuple[Finding, ...]:
        """What programs make go wrong, asked again where a file that matters says another thing."""
        home, about = home_of(own.source), (own.source.text, own.config)
        known = self._led_before.get(home)
        if known is None or known.about != about or not self._project.are_as(known.versions):
            with _interrupted_when(is_abandoned), self._project.noting() as noted:
                found = tuple(own.led(self._project))
            read = noted | self._project.rests_on(own.source)
            known = _Led(about, found, self._project.versions(read))
            self._led_before[home] = known
        return known.findings

    def _reached(self, document: OpenDocument) -> frozenset[str]:
        return frozenset(self._project.rests_on(document.source))

    def fixed(self, document: OpenDocument, config: Config, *, adopts: bool) -> SourceFile:
        """What the fixes that the configuration allows make of a document; raises InputError."""
        if adopts:
            return lint.adopt(document.source, config, self._project).after

        def reported(checked: CheckResult) -> CheckResult:
            return without_known(checked, config.baseline)

        return lint.fix(document.source, config, self._project, reported=reported).after

    def fixed_by(
        self, document: OpenDocument, finding: Finding, config: Config
    ) -> SourceFile | None:
        """What the fix of a finding makes of its document; None where it would do harm."""
        with suppress(InputError):
            done = fix_one(document.source, finding, config, self._project)
            return done.after if done.applied else None
        return None

    def fixed_across_files(
        self,
        document: OpenDocument,
        finding: Finding,
        others: Sequence[OpenDocument],
        config: Config,
    ) -> tuple[Fix, list[tuple[OpenDocument, SourceFile]]] | None:
        """The fix that belongs in other files, and what it makes of documents; None for harm."""
        with suppress(InputError):
            sources = [one.source for one in others]
            found = fix_across_files(document.source, finding, sources, config, self._project)
            if found is not None:
                by_home = {home_of(one.source): one for one in (document, *others)}
                return found[0], [(by_home[home], after) for home, after in found[1].items()]
        return None

    def release(self, path: str) -> None:
        """Go by what is on the disk again, where a document is closed."""
        for known in (self._walks, self._led_before):
            known.pop(os.path.abspath(path), None)
        self._project.release(path)

    def written(self, path: str | None = None) -> None:
        """A file was written: walks through others may have asked what stands on the disk."""
        home = None if path is None else os.path.abspath(path)
        self._walks = {one: walk for one, walk in self._walks.items() if one == home}
        self._led_before.clear()

    def look_again(self, opened: Iterable[OpenDocument]) -> None:
        """Forget which files there are."""
        self._project = EditedProject()
        self._walks.clear()
        self._led_before.clear()
        for document in opened:
            with suppress(InputError):
                self._project.hold(document.source)


@contextmanager
def _interrupted_when(is_abandoned: IsAbandoned) -> Iterator[None]:
    """Give up walks as well that no listener hears of, such as those through imported files."""

    def is_unwanted() -> bool:
        garbage.collect(garbage.MOST_OBJECTS)
        return is_abandoned()

    try:
        with interrupted_when(is_unwanted):
            yield
    except Interrupted:
        raise Abandoned from None

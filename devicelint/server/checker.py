"""The analyser at work for a server: it is imported with the first check, not with the server."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress

from devicelint.config import Config
from devicelint.finding import Finding, Fix, InputError
from devicelint.linter import lint
from devicelint.linter.baseline import without_known
from devicelint.linter.fix_one import fix_across_files, fix_one
from devicelint.linter.result import CheckResult
from devicelint.server.analysis import DocumentAnalysis
from devicelint.server.open_documents import OpenDocument
from devicelint.text.source import SourceFile
from devicelint.views import editor
from devicelint.views.abandoned import Abandoned, IsAbandoned
from devicelint.workspace.project import Project, home_of


class Checker:
    """Checks and fixes documents; what they import stays parsed from one check to the next."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._project = Project()

    def analyse(
        self, document: OpenDocument, config: Config, is_abandoned: IsAbandoned
    ) -> DocumentAnalysis:
        """What is found in a document; raises `Abandoned` or InputError."""
        if is_abandoned():
            raise Abandoned
        source = document.source
        self._project.hold(source)
        if config.excludes_below(document.path):
            return DocumentAnalysis(document)
        checked, snapshots = editor.analyse(source, config, self._project, is_abandoned)
        reached = frozenset(self._project.rests_on(source))
        findings = without_known(checked, config.baseline).findings
        return DocumentAnalysis(document, findings, snapshots, reached=reached)

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
        self._project.release(path)

    def look_again(self, opened: Iterable[OpenDocument]) -> None:
        """Forget which files there are."""
        self._project = Project()
        for document in opened:
            with suppress(InputError):
                self._project.hold(document.source)

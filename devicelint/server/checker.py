"""The analyser at work for a server: it is imported with the first check, not with the server."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace

from devicelint.config import Config
from devicelint.finding import Finding, Fix, InputError
from devicelint.interpreter.engine.budget import Interrupted, interrupted_when
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
        """What is found in a document by itself; raises `Abandoned` or InputError."""
        if is_abandoned():
            raise Abandoned
        source = document.source
        self._project.hold(source)
        if config.excludes_below(document.path):
            return DocumentAnalysis(document)
        with _interrupted_when(is_abandoned):
            own = editor.analyse_alone(source, config, self._project, is_abandoned)
        found = without_known(own.checked(), config.baseline).findings
        reached = self._reached(document)
        return DocumentAnalysis(document, found, own.snapshots, reached=reached, unfinished=own)

    def finish(self, analysis: DocumentAnalysis, is_abandoned: IsAbandoned) -> DocumentAnalysis:
        """The same with what programs around a document make go wrong in it, once it is saved.

        Raises `Abandoned`; what was found out until then is known the next time.
        """
        own = analysis.unfinished
        if own is None or not own.has_programs:
            return analysis
        with _interrupted_when(is_abandoned):
            checked = own.checked(own.led(self._project))
        found = without_known(checked, own.config.baseline).findings
        return replace(
            analysis,
            findings=found,
            reached=self._reached(analysis.document),
            unfinished=None,
            fixed_by={},
        )

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
        self._project.release(path)

    def look_again(self, opened: Iterable[OpenDocument]) -> None:
        """Forget which files there are."""
        self._project = Project()
        for document in opened:
            with suppress(InputError):
                self._project.hold(document.source)


@contextmanager
def _interrupted_when(is_abandoned: IsAbandoned) -> Iterator[None]:
    """Give up walks as well that no listener hears of, such as those through imported files."""
    try:
        with interrupted_when(is_abandoned):
            yield
    except Interrupted:
        raise Abandoned from None

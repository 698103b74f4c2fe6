"""Checks open documents one after the other, apart from the loop that talks to the editor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from devicelint.config import Config, ConfigError, ConfigFinder, load_config
from devicelint.finding import Finding, Fix, InputError
from devicelint.linter import lint
from devicelint.linter.baseline import without_known
from devicelint.linter.fix_one import fix_across_files, fix_one
from devicelint.linter.result import CheckResult
from devicelint.output import internal_error
from devicelint.rule_index import known_rules
from devicelint.server.analysis import DocumentAnalysis
from devicelint.server.open_documents import OpenDocument
from devicelint.server.settings import WorkspaceSettings
from devicelint.text.source import SourceFile
from devicelint.views import editor
from devicelint.views.editor import Abandoned
from devicelint.workspace.project import Project, home_of


class Worker:
    """Checks documents; what they import stays parsed from one check to the next.

    Everything here is called in one thread.
    """

    def __init__(self) -> None:
        """Know nothing yet."""
        self.known = known_rules()
        self.settings = WorkspaceSettings()
        self.misconfigured: dict[str, ConfigError] = {}
        """What is wrong in configurations, by their paths."""
        self._project = Project()
        self._finder = ConfigFinder(self.known)

    def analyse(
        self,
        document: OpenDocument,
        before: DocumentAnalysis | None,
        is_abandoned: Callable[[], bool],
    ) -> DocumentAnalysis:
        """What is found in a document; `before` is what was found in it last.

        Raises `Abandoned` once nobody wants to know any more.
        """
        last = None if before is None else before.before or before
        try:
            return self._analysed(document, is_abandoned)
        except Abandoned:
            raise
        except InputError as error:
            return DocumentAnalysis(document, problem=error, before=last)
        except Exception as error:  # noqa: BLE001 - whatever it is, the server goes on
            message = f"{internal_error.NAME}: {internal_error.describe(error)}"
            problem = InputError(document.path, 1, 0, message)
            return DocumentAnalysis(document, problem=problem, before=last)

    def _analysed(
        self, document: OpenDocument, is_abandoned: Callable[[], bool]
    ) -> DocumentAnalysis:
        if is_abandoned():
            raise Abandoned
        source, config = document.source, self.config_for(document.path)
        self._project.hold(source)
        if config.excludes_below(document.path):
            return DocumentAnalysis(document)
        checked, snapshots = editor.analyse(source, config, self._project, is_abandoned)
        reached = frozenset(self._project.rests_on(source))
        return DocumentAnalysis(
            document, self._new(checked, config).findings, snapshots, reached=reached
        )

    def fixed(self, document: OpenDocument, *, adopts: bool = False) -> SourceFile:
        """What the fixes that the configuration allows make of a document; raises InputError."""
        config = self.config_for(document.path)
        if adopts:
            return lint.adopt(document.source, config, self._project).after
        reported = partial(self._new, config=config)
        return lint.fix(document.source, config, self._project, reported=reported).after

    def fixed_by(self, analysis: DocumentAnalysis, finding: Finding) -> SourceFile | None:
        """What the fix of a finding makes of its document; None where it would do harm."""
        document = analysis.document
        if finding not in analysis.fixed_by:
            after: SourceFile | None = None
            with suppress(InputError):
                done = fix_one(
                    document.source, finding, self.config_for(document.path), self._project
                )
                after = done.after if done.applied else None
            analysis.fixed_by[finding] = after
        return analysis.fixed_by[finding]

    def fixed_across_files(
        self, document: OpenDocument, finding: Finding, others: Sequence[OpenDocument]
    ) -> tuple[Fix, list[tuple[OpenDocument, SourceFile]]] | None:
        """The fix that belongs in other files, and what it makes of documents; None for harm."""
        with suppress(InputError):
            sources = [one.source for one in others]
            config = self.config_for(document.path)
            found = fix_across_files(document.source, finding, sources, config, self._project)
            if found is not None:
                by_home = {home_of(one.source): one for one in (document, *others)}
                return found[0], [(by_home[home], after) for home, after in found[1].items()]
        return None

    def _new(self, checked: CheckResult, config: Config) -> CheckResult:
        """What the baseline does not know; raises InputError for one that is none."""
        return without_known(checked, config.baseline)

    def config_for(self, path: str) -> Config:
        """What holds for a file; a configuration that cannot be read holds for none."""
        settings = self.settings.of(path)
        explicit = settings.configuration
        try:
            if explicit:
                found = load_config(Path(explicit).expanduser(), Path(), self.known)
            else:
                found = self._finder.config_for(Path(path))
        except ConfigError as error:
            self.misconfigured[error.path] = error
            found = Config()
        return settings.config(found)

    def release(self, path: str) -> None:
        """Go by what is on the disk again, where a document is closed."""
        self._project.release(path)

    def read_settings_again(self) -> None:
        """Forget the configurations that were read."""
        self.misconfigured.clear()
        self._finder = ConfigFinder(self.known)

    def look_again(self, opened: Iterable[OpenDocument]) -> None:
        """Forget which files there are."""
        self._project = Project()
        for document in opened:
            with suppress(InputError):
                self._project.hold(document.source)

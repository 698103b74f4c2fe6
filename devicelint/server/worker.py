"""Checks open documents one after the other, apart from the loop that talks to the editor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from devicelint.config import Config, ConfigError, ConfigFinder, load_config
from devicelint.finding import Finding, Fix, InputError
from devicelint.output import internal_error
from devicelint.rule_index import known_rules
from devicelint.server import garbage
from devicelint.server.analysis import DocumentAnalysis
from devicelint.server.open_documents import OpenDocument
from devicelint.server.settings import WorkspaceSettings
from devicelint.text.source import SourceFile
from devicelint.views.abandoned import Abandoned, IsAbandoned

if TYPE_CHECKING:
    from devicelint.server.checker import Checker


class Worker:
    """Checks documents with the settings that hold for them.

    Everything here is called in one thread.
    """

    def __init__(self) -> None:
        """Know nothing yet."""
        self.known = known_rules()
        self.settings = WorkspaceSettings()
        self.misconfigured: dict[str, ConfigError] = {}
        """What is wrong in configurations, by their paths."""
        self._finder = ConfigFinder(self.known)

    @cached_property
    def checker(self) -> Checker:
        """What checks: the analyser is imported with it, once a server has answered its editor."""
        from devicelint.server.checker import Checker

        garbage.keep_what_is_imported()
        return Checker()

    def prepare(self) -> Checker:
        """Import the analyser before the first document asks for it."""
        return self.checker

    def analyse(
        self,
        document: OpenDocument,
        before: DocumentAnalysis | None,
        is_abandoned: IsAbandoned,
    ) -> DocumentAnalysis:
        """What is found in a document; `before` is what was found in it last.

        Raises `Abandoned` once nobody wants to know any more.
        """
        last = None if before is None else before.before or before
        try:
            return self.checker.analyse(document, self.config_for(document.path), is_abandoned)
        except Abandoned:
            raise
        except InputError as error:
            return DocumentAnalysis(document, problem=error, before=last)
        except Exception as error:  # noqa: BLE001 - whatever it is, the server goes on
            message = f"{internal_error.NAME}: {internal_error.describe(error)}"
            problem = InputError(document.path, 1, 0, message)
            return DocumentAnalysis(document, problem=problem, before=last)

    def finish(self, analysis: DocumentAnalysis, is_abandoned: IsAbandoned) -> DocumentAnalysis:
        """What is found in a document once the programs around it were asked, too.

        Raises `Abandoned` where something else is wanted first.
        """
        try:
            return self.checker.finish(analysis, is_abandoned)
        except Abandoned:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, the server goes on
            message = f"{internal_error.NAME}: {internal_error.describe(error)}"
            problem = InputError(analysis.document.path, 1, 0, message)
            return replace(analysis, problem=problem, unfinished=None)

    def fixed(self, document: OpenDocument, *, adopts: bool = False) -> SourceFile:
        """What the fixes that the configuration allows make of a document; raises InputError."""
        return self.checker.fixed(document, self.config_for(document.path), adopts=adopts)

    def fixed_by(self, analysis: DocumentAnalysis, finding: Finding) -> SourceFile | None:
        """What the fix of a finding makes of its document; None where it would do harm."""
        document = analysis.document
        if finding not in analysis.fixed_by:
            after = self.checker.fixed_by(document, finding, self.config_for(document.path))
            analysis.fixed_by[finding] = after
        return analysis.fixed_by[finding]

    def fixed_across_files(
        self, document: OpenDocument, finding: Finding, others: Sequence[OpenDocument]
    ) -> tuple[Fix, list[tuple[OpenDocument, SourceFile]]] | None:
        """The fix that belongs in other files, and what it makes of documents; None for harm."""
        config = self.config_for(document.path)
        return self.checker.fixed_across_files(document, finding, others, config)

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
        self.checker.release(path)

    def written(self, path: str | None = None) -> None:
        """A document was written to the disk, or any file."""
        self.checker.written(path)

    def read_settings_again(self) -> None:
        """Forget the configurations that were read."""
        self.misconfigured.clear()
        self._finder = ConfigFinder(self.known)

    def look_again(self, opened: Iterable[OpenDocument]) -> None:
        """Forget which files there are."""
        self.checker.look_again(opened)

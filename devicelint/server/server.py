"""One editor's server: what it knows of the editor, and what it shows there."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.protocol import default_converter
from pygls.uris import to_fs_path

from devicelint import __version__
from devicelint.server.analysis import DocumentAnalysis
from devicelint.server.diagnostics import diagnostics, uri_of
from devicelint.server.documents import Documents
from devicelint.server.open_documents import OpenNotebook
from devicelint.server.protocol import Protocol
from devicelint.server.session import Session
from devicelint.server.settings import ServerSettings, WorkspaceSettings, read_settings
from devicelint.server.shutdown import leave_with

NOTEBOOKS = lsp.NotebookDocumentSyncOptions(
    notebook_selector=[
        lsp.NotebookDocumentFilterWithCells(
            cells=[lsp.NotebookCellLanguage(language="python")], notebook="jupyter-notebook"
        )
    ]
)


class Server(LanguageServer):
    """One editor's server."""

    def __init__(self) -> None:
        """Listen to nothing yet."""
        super().__init__(
            "devicelint",
            __version__,
            notebook_document_sync=NOTEBOOKS,
            protocol_cls=Protocol,
            converter_factory=default_converter,
        )
        self.session = Session(self._on_analysis)
        self.documents = Documents(self.session)
        self.pulls = False
        """Whether the editor asks for findings, and gets none unasked."""
        self._misconfigured: set[str] = set()
        self._has_shut_down = False

    @property
    def roots(self) -> list[str]:
        """The folders that the editor works in."""
        workspace = self.workspace
        folders = [to_fs_path(folder.uri) for folder in workspace.folders.values()]
        return [path for path in (workspace.root_path, *folders) if path]

    @property
    def has_shut_down(self) -> bool:
        """Whether the editor took its leave before it was gone."""
        return self._has_shut_down

    def report_server_error(self, error: Exception, source: object) -> None:  # noqa: ARG002 - as pygls calls it
        """Errors go to the log of the editor, in one line."""
        self.say(f"{type(error).__name__}: {error}", lsp.MessageType.Error)

    def follow_editor(self) -> None:
        """Leave when the editor does."""
        if self.process_id is not None:
            self._following = asyncio.ensure_future(leave_with(self.process_id))

    def end(self) -> None:
        """Take no more work."""
        self._has_shut_down = True
        self.session.close()

    def say(self, message: str, kind: lsp.MessageType = lsp.MessageType.Info) -> None:
        """Write a line in the log of the editor."""
        line = " ".join(message.split())
        self.window_log_message(lsp.LogMessageParams(kind, f"devicelint: {line}"))

    def warn(self, message: str) -> None:
        """Show somebody what is wrong with what they have asked for."""
        self.window_show_message(
            lsp.ShowMessageParams(lsp.MessageType.Warning, f"devicelint: {message}")
        )

    def begin(self, params: lsp.InitializeParams) -> None:
        """Learn what the editor can do, and what it wants."""
        encoding = self.workspace.position_encoding or lsp.PositionEncodingKind.Utf16
        self.documents.encoding = lsp.PositionEncodingKind(encoding).value
        self.use_settings(params.initialization_options)
        documents = params.capabilities.text_document
        can_pull = documents is not None and documents.diagnostic is not None
        self.pulls = can_pull and self.session.worker.settings.window.run == "onType"

    def use_settings(self, sent: object, by_folder: Mapping[str, object] | None = None) -> None:
        """Go by other settings from now on: those of the window, and of folders by their paths."""
        known = self.session.worker.known
        window, complaints = read_settings(sent, known)
        folders: dict[str, ServerSettings] = {}
        for path, own in (by_folder or {}).items():
            folders[path], more = read_settings(own, known)
            complaints += more
        self.session.worker.settings = WorkspaceSettings(window, folders)
        for complaint in dict.fromkeys(complaints):
            self.warn(complaint)

    def settings_of(self, uri: str) -> ServerSettings:
        """The settings of a file, cell or notebook."""
        document = self.session.documents.get(self.documents.document_of(uri))
        settings = self.session.worker.settings
        return settings.window if document is None else settings.of(document.path)

    def _on_analysis(self, analysis: DocumentAnalysis, of_another: bool) -> None:
        self._show_misconfigured()
        if of_another:
            self.refresh()
        if self.pulls and not isinstance(analysis.document, OpenNotebook):
            return
        shown = self.shown(analysis)
        for part in analysis.document.parts():
            self.publish(part.uri, shown[part.uri], part.version)

    def shown(self, analysis: DocumentAnalysis) -> dict[str, list[lsp.Diagnostic]]:
        """What is shown of a document."""
        settings = self.session.worker.settings.of(analysis.document.path)
        if not settings.enable:
            return {part.uri: [] for part in analysis.document.parts()}
        return diagnostics(analysis, shows_problems=settings.show_syntax_errors)

    def publish(
        self, uri: str, found: Sequence[lsp.Diagnostic], version_of: int | None = None
    ) -> None:
        """Show findings."""
        self.text_document_publish_diagnostics(
            lsp.PublishDiagnosticsParams(uri, list(found), version=version_of)
        )

    def _show_misconfigured(self) -> None:
        """Show what is wrong in a configuration where it is wrong."""
        found = dict(self.session.worker.misconfigured)  # The worker may find more meanwhile.
        for path in self._misconfigured - found.keys():
            self.publish(uri_of(path), [])
        for path, error in found.items():
            if path not in self._misconfigured:
                self.warn(f"{error}")
            start = lsp.Position(error.line - 1, error.column)
            place = lsp.Range(start, lsp.Position(error.line, 0))
            shown = lsp.Diagnostic(
                place, error.message, severity=lsp.DiagnosticSeverity.Error, source="devicelint"
            )
            self.publish(uri_of(path), [shown])
        self._misconfigured = set(found)

    @property
    def refreshes(self) -> bool:
        """Whether an editor that asks for findings asks again where there are others."""
        workspace = self.client_capabilities.workspace
        known = workspace.diagnostics if workspace is not None else None
        return bool(known and known.refresh_support)

    def refresh(self) -> None:
        """Ask the editor to ask again."""
        workspace = self.client_capabilities.workspace
        if workspace is None:
            return
        if self.pulls and self.refreshes:
            self.workspace_diagnostic_refresh(None)
        if workspace.inlay_hint and workspace.inlay_hint.refresh_support:
            self.workspace_inlay_hint_refresh(None)

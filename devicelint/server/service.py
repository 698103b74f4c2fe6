"""The language server: messages of the editor in, and what is to be shown out."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.protocol import default_converter
from pygls.uris import to_fs_path

from devicelint.finding import InputError
from devicelint.server import actions, hints, hovers
from devicelint.server.analysis import Analysis
from devicelint.server.desk import Desk
from devicelint.server.diagnostics import diagnostics, uri_of
from devicelint.server.documents import Documents
from devicelint.server.pages import NotebookPage
from devicelint.server.protocol import Protocol
from devicelint.server.settings import read_settings

_DELAY = 0.15
"""In seconds: so long nobody must have typed before a page is checked."""

NOTEBOOKS = lsp.NotebookDocumentSyncOptions(
    notebook_selector=[
        lsp.NotebookDocumentFilterWithCells(
            cells=[lsp.NotebookCellLanguage(language="python")], notebook="jupyter-notebook"
        )
    ]
)


WHERE_MOVED = "devicelint.whereMoved"


class Server(LanguageServer):
    """One editor's server."""

    def __init__(self) -> None:
        """Listen to everything that the server can do."""
        super().__init__(
            "devicelint",
            version("devicelint"),
            notebook_document_sync=NOTEBOOKS,
            protocol_cls=Protocol,
            converter_factory=default_converter,
        )
        self.desk = Desk(self._on_analysis)
        self.documents = Documents(self.desk)
        self._misconfigured: set[str] = set()
        self._pulls = False
        self._has_shut_down = False
        for message, handler in _HANDLERS.items():
            self.feature(message, _OPTIONS.get(message))(handler)
        self.command(actions.FIX_ALL_COMMAND)(_fix_all)
        self.command(actions.ADOPT_COMMAND)(_adopt)
        self.command(WHERE_MOVED)(_where_moved)

    @property
    def has_shut_down(self) -> bool:
        """Whether the editor took its leave before it was gone."""
        return self._has_shut_down

    def report_server_error(self, error: Exception, source: object) -> None:  # noqa: ARG002 - as pygls calls it
        """What goes wrong is told in the log of the editor, in one line."""
        self.say(f"{type(error).__name__}: {error}", lsp.MessageType.Error)

    def end(self) -> None:
        """Take no more work."""
        self._has_shut_down = True
        self.desk.close()

    def say(self, message: str, kind: lsp.MessageType = lsp.MessageType.Info) -> None:
        """Write a line in the log of the editor."""
        told = " ".join(message.split())
        self.window_log_message(lsp.LogMessageParams(kind, f"devicelint: {told}"))

    def warn(self, message: str) -> None:
        """Show somebody what is wrong with what they have asked for."""
        self.window_show_message(
            lsp.ShowMessageParams(lsp.MessageType.Warning, f"devicelint: {message}")
        )

    def begin(self, params: lsp.InitializeParams) -> None:
        """Learn what the editor can do, and what it wants."""
        encoding = self.workspace.position_encoding or lsp.PositionEncodingKind.Utf16
        self.documents.encoding = lsp.PositionEncodingKind(encoding).value
        documents = params.capabilities.text_document
        if documents is not None and documents.diagnostic is not None:
            self._pulls = True
            options = lsp.DiagnosticOptions(
                inter_file_dependencies=True, workspace_diagnostics=False, identifier="devicelint"
            )
            self.feature(lsp.TEXT_DOCUMENT_DIAGNOSTIC, options)(_pull)
        self.use_settings(params.initialization_options)

    def use_settings(self, sent: object) -> None:
        """Go by other settings from now on."""
        self.desk.analyst.settings, complaints = read_settings(sent, self.desk.analyst.known)
        for complaint in complaints:
            self.warn(complaint)

    def _on_analysis(self, analysis: Analysis) -> None:
        self._tell_misconfigured()
        if self._pulls and not isinstance(analysis.page, NotebookPage):
            return
        shown = self.shown(analysis)
        for part in analysis.page.parts():
            self.publish(part.uri, shown[part.uri], part.version)

    def shown(self, analysis: Analysis) -> dict[str, list[lsp.Diagnostic]]:
        """What is shown of a page."""
        settings = self.desk.analyst.settings
        if not settings.enable:
            return {part.uri: [] for part in analysis.page.parts()}
        return diagnostics(analysis, shows_problems=settings.show_syntax_errors)

    def publish(
        self, uri: str, found: Sequence[lsp.Diagnostic], version_of: int | None = None
    ) -> None:
        """Show findings."""
        self.text_document_publish_diagnostics(
            lsp.PublishDiagnosticsParams(uri, list(found), version=version_of)
        )

    def _tell_misconfigured(self) -> None:
        """Show what is wrong in a configuration where it is wrong."""
        found = self.desk.analyst.misconfigured
        for path in self._misconfigured - found.keys():
            self.publish(uri_of(path), [])
        for path, error in found.items():
            if path not in self._misconfigured:
                self.warn(f"{error}")
            start = lsp.Position(error.line - 1, error.column)
            place = lsp.Range(start, lsp.Position(error.line, 0))
            told = lsp.Diagnostic(
                place, error.message, severity=lsp.DiagnosticSeverity.Error, source="devicelint"
            )
            self.publish(uri_of(path), [told])
        self._misconfigured = set(found)

    async def refresh(self) -> None:
        """Ask the editor to ask again."""
        workspace = self.client_capabilities.workspace
        if workspace is None:
            return
        if self._pulls and workspace.diagnostics and workspace.diagnostics.refresh_support:
            self.workspace_diagnostic_refresh(None)
        if workspace.inlay_hint and workspace.inlay_hint.refresh_support:
            self.workspace_inlay_hint_refresh(None)


def _initialize(server: Server, params: lsp.InitializeParams) -> None:
    server.begin(params)


async def _initialized(server: Server, _: lsp.InitializedParams) -> None:
    workspace = server.client_capabilities.workspace
    if workspace is None:
        return
    watching = workspace.did_change_watched_files
    if watching is not None and watching.dynamic_registration:
        globs = ("**/*.py", "**/*.pyi", "**/*.toml")  # A file that is extended has any name.
        options = lsp.DidChangeWatchedFilesRegistrationOptions(
            [lsp.FileSystemWatcher(glob) for glob in globs]
        )
        registration = lsp.Registration(
            "devicelint.files", lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options
        )
        server.client_register_capability(lsp.RegistrationParams([registration]))
    await _read_configuration(server)


async def _read_configuration(server: Server) -> None:
    """Ask the editor for its settings, where it lets itself be asked."""
    workspace = server.client_capabilities.workspace
    if workspace is None or not workspace.configuration:
        return
    items = [lsp.ConfigurationItem(section="devicelint")]
    found = await server.workspace_configuration_async(lsp.ConfigurationParams(items))
    if found and found[0] is not None:
        server.use_settings(found[0])
        await _check_again(server)


async def _check_again(server: Server) -> None:
    await server.desk.ask(server.desk.analyst.read_settings_again)
    server.desk.check_all_again()
    await server.refresh()


async def _configuration_changed(server: Server, params: lsp.DidChangeConfigurationParams) -> None:
    workspace = server.client_capabilities.workspace
    if workspace is not None and workspace.configuration:
        await _read_configuration(server)
        return
    server.use_settings(params.settings)
    await _check_again(server)


async def _files_changed(server: Server, params: lsp.DidChangeWatchedFilesParams) -> None:
    kept = (lsp.FileChangeType.Changed,)
    if any(change.type not in kept for change in params.changes):
        pages = tuple(server.desk.pages.values())
        await server.desk.ask(server.desk.analyst.look_again, pages)
    await _check_again(server)


def _opened(server: Server, params: lsp.DidOpenTextDocumentParams) -> None:
    uri = server.documents.open(params.text_document)
    if uri is not None:
        server.desk.check_soon(uri)


def _changed(server: Server, params: lsp.DidChangeTextDocumentParams) -> None:
    uri = server.documents.change(params.text_document, params.content_changes)
    if uri is not None and server.desk.analyst.settings.run == "onType":
        server.desk.check_soon(uri, _DELAY)


async def _saved(server: Server, params: lsp.DidSaveTextDocumentParams) -> None:
    if params.text_document.uri.endswith(".toml"):
        await _check_again(server)
    elif params.text_document.uri in server.desk.pages:
        server.desk.check_soon(params.text_document.uri)


def _closed(server: Server, params: lsp.DidCloseTextDocumentParams) -> None:
    if server.documents.close(params.text_document.uri):
        server.publish(params.text_document.uri, [])


def _notebook_opened(server: Server, params: lsp.DidOpenNotebookDocumentParams) -> None:
    uri = server.documents.open_notebook(params)
    server.desk.check_soon(uri)


def _notebook_changed(server: Server, params: lsp.DidChangeNotebookDocumentParams) -> None:
    gone = server.documents.change_notebook(params)
    for uri in gone:
        server.publish(uri, [])
    if server.desk.analyst.settings.run == "onType":
        server.desk.check_soon(params.notebook_document.uri, _DELAY)


def _notebook_saved(server: Server, params: lsp.DidSaveNotebookDocumentParams) -> None:
    server.desk.check_soon(params.notebook_document.uri)


def _notebook_closed(server: Server, params: lsp.DidCloseNotebookDocumentParams) -> None:
    for uri in server.documents.close_notebook(params.notebook_document.uri):
        server.publish(uri, [])


async def _pull(
    server: Server, params: lsp.DocumentDiagnosticParams
) -> lsp.DocumentDiagnosticReport:
    """What is found in a file; of cells, not every editor asks, so that these are told unasked."""
    analysis = await server.desk.analysis_of(params.text_document.uri)
    found = [] if analysis is None else server.shown(analysis).get(params.text_document.uri, [])
    return lsp.RelatedFullDocumentDiagnosticReport(found)


async def _analysis(server: Server, uri: str) -> Analysis | None:
    """What is known of a file, or of the notebook of a cell."""
    return await server.desk.analysis_of(server.documents.page_of(uri))


async def _actions(server: Server, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
    uri = params.text_document.uri
    analysis = await _analysis(server, uri)
    if analysis is None or not server.desk.analyst.settings.enable:
        return []
    found: list[lsp.CodeAction] = []
    if actions.wants(params.context, lsp.CodeActionKind.QuickFix):
        found += actions.quick_fixes(analysis, uri, params.range, params.context)
    if params.context.only and actions.wants(params.context, actions.FIX_ALL):
        edit = await _mended(server, analysis)
        if edit is not None:
            title = "Mend all device mistakes that can be mended safely"
            found.append(lsp.CodeAction(title, kind=actions.FIX_ALL, edit=edit))
    return [_fitting(server, one) for one in found]


def _fitting(server: Server, action: lsp.CodeAction) -> lsp.CodeAction:
    if action.edit is not None:
        action.edit = _fitting_edit(server, action.edit)
    return action


def _fitting_edit(server: Server, edit: lsp.WorkspaceEdit) -> lsp.WorkspaceEdit:
    """An edit as the editor understands it."""
    workspace = server.client_capabilities.workspace
    known = workspace.workspace_edit if workspace is not None else None
    return edit if known and known.document_changes else actions.without_versions(edit)


async def _mended(
    server: Server, analysis: Analysis, *, adopts: bool = False
) -> lsp.WorkspaceEdit | None:
    """What the fixes of a page come to; None where there is nothing to mend."""
    if not analysis.is_of_now or analysis.problem is not None:
        return None
    page = analysis.page
    if not adopts and not any(one.fix for one in analysis.findings):
        return None
    try:
        after = await server.desk.ask(lambda: server.desk.analyst.fixed(page, adopts=adopts))
    except InputError:
        return None
    return actions.workspace_edit(page, after)


async def _hints(server: Server, params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
    analysis = await _analysis(server, params.text_document.uri)
    settings = server.desk.analyst.settings
    if analysis is None or not (settings.enable and settings.inlay_hints):
        return []
    uri = params.text_document.uri
    return await server.desk.ask(lambda: list(hints.inlay_hints(analysis, uri, params.range)))


async def _hover(server: Server, params: lsp.HoverParams) -> lsp.Hover | None:
    analysis = await _analysis(server, params.text_document.uri)
    settings = server.desk.analyst.settings
    if analysis is None or not (settings.enable and settings.hover):
        return None
    return await server.desk.ask(hovers.hover, analysis, params.text_document.uri, params.position)


async def _definition(server: Server, params: lsp.DefinitionParams) -> list[lsp.Location]:
    analysis = await _analysis(server, params.text_document.uri)
    settings = server.desk.analyst.settings
    if analysis is None or not (settings.enable and settings.definition):
        return []
    return await server.desk.ask(hovers.moves, analysis, params.text_document.uri, params.position)


async def _where_moved(server: Server, place: lsp.TextDocumentPositionParams) -> list[lsp.Location]:
    """As the definition, whether or not that is to lead there."""
    uri = place.text_document.uri
    analysis = await _analysis(server, uri)
    if analysis is None:
        return []
    return await server.desk.ask(hovers.moves, analysis, uri, place.position)


async def _fix_all(server: Server, uri: str) -> None:
    await _apply(server, uri, "Mend all device mistakes", adopts=False)


async def _adopt(server: Server, uri: str) -> None:
    await _apply(server, uri, "Bring the file to one device", adopts=True)


async def _apply(server: Server, uri: str, label: str, *, adopts: bool) -> None:
    analysis = await _analysis(server, uri)
    edit = None if analysis is None else await _mended(server, analysis, adopts=adopts)
    if edit is None:
        server.say(f"nothing to change in {Path(to_fs_path(uri) or uri).name}")
        return
    await server.workspace_apply_edit_async(
        lsp.ApplyWorkspaceEditParams(_fitting_edit(server, edit), label)
    )


def _shutdown(server: Server, _: None = None) -> None:
    server.end()


_HANDLERS: dict[str, Any] = {
    lsp.INITIALIZE: _initialize,
    lsp.INITIALIZED: _initialized,
    lsp.SHUTDOWN: _shutdown,
    lsp.WORKSPACE_DID_CHANGE_CONFIGURATION: _configuration_changed,
    lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES: _files_changed,
    lsp.TEXT_DOCUMENT_DID_OPEN: _opened,
    lsp.TEXT_DOCUMENT_DID_CHANGE: _changed,
    lsp.TEXT_DOCUMENT_DID_SAVE: _saved,
    lsp.TEXT_DOCUMENT_DID_CLOSE: _closed,
    lsp.NOTEBOOK_DOCUMENT_DID_OPEN: _notebook_opened,
    lsp.NOTEBOOK_DOCUMENT_DID_CHANGE: _notebook_changed,
    lsp.NOTEBOOK_DOCUMENT_DID_SAVE: _notebook_saved,
    lsp.NOTEBOOK_DOCUMENT_DID_CLOSE: _notebook_closed,
    lsp.TEXT_DOCUMENT_CODE_ACTION: _actions,
    lsp.TEXT_DOCUMENT_HOVER: _hover,
    lsp.TEXT_DOCUMENT_INLAY_HINT: _hints,
    lsp.TEXT_DOCUMENT_DEFINITION: _definition,
}

_OPTIONS: dict[str, Any] = {
    lsp.TEXT_DOCUMENT_CODE_ACTION: lsp.CodeActionOptions(
        code_action_kinds=[lsp.CodeActionKind.QuickFix, actions.FIX_ALL]
    ),
    lsp.TEXT_DOCUMENT_INLAY_HINT: lsp.InlayHintOptions(resolve_provider=False),
}

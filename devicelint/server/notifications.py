"""What the editor notifies of: files that open, change and close, and settings."""

from __future__ import annotations

from lsprotocol import types as lsp
from pygls.uris import to_fs_path

from devicelint.server import requests
from devicelint.server.server import Server

_DELAY = 0.15
"""In seconds: so long nobody must have typed before a document is checked."""


def initialize(server: Server, params: lsp.InitializeParams) -> None:
    """Learn what the editor can do."""
    server.begin(params)
    if server.pulls:
        options = lsp.DiagnosticOptions(
            inter_file_dependencies=True, workspace_diagnostics=False, identifier="devicelint"
        )
        server.feature(lsp.TEXT_DOCUMENT_DIAGNOSTIC, options)(requests.pull)


async def initialized(server: Server, _: lsp.InitializedParams) -> None:
    """Ask the editor to watch files, and for its settings."""
    server.session.prepare()
    server.follow_editor()
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
            "devicelint.workspace.files", lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options
        )
        server.client_register_capability(lsp.RegistrationParams([registration]))
    await _read_configuration(server)


async def _read_configuration(server: Server) -> None:
    """Ask the editor for its settings, where it lets itself be asked."""
    workspace = server.client_capabilities.workspace
    if workspace is None or not workspace.configuration:
        return
    folders = [one.uri for one in server.workspace.folders.values()]
    scopes = folders if len(folders) > 1 else []  # The window's are those of its only folder.
    items = [lsp.ConfigurationItem(uri, section="devicelint") for uri in (None, *scopes)]
    found = await server.workspace_configuration_async(lsp.ConfigurationParams(items))
    if any(one is not None for one in found):
        paths = [to_fs_path(uri) or uri for uri in scopes]
        server.use_settings(found[0], dict(zip(paths, found[1:], strict=False)))
        await _check_again(server)


async def folders_changed(server: Server, _: lsp.DidChangeWorkspaceFoldersParams) -> None:
    """Folders were added to the window, or removed: each may have its own settings."""
    await _read_configuration(server)


async def _check_again(server: Server) -> None:
    await server.session.ask(server.session.worker.read_settings_again)
    server.session.check_all_again()
    server.refresh()


async def configuration_changed(server: Server, params: lsp.DidChangeConfigurationParams) -> None:
    """Go by other settings."""
    workspace = server.client_capabilities.workspace
    if workspace is not None and workspace.configuration:
        await _read_configuration(server)
        return
    server.use_settings(params.settings)
    await _check_again(server)


async def files_changed(server: Server, params: lsp.DidChangeWatchedFilesParams) -> None:
    """Files were made, changed or removed; of what is open, the editor's text counts."""
    changed = lsp.FileChangeType.Changed
    if all(one.type == changed and one.uri in server.session.documents for one in params.changes):
        return
    if any(one.type != changed for one in params.changes):
        opened = tuple(server.session.documents.values())
        await server.session.ask(server.session.worker.look_again, opened)
    else:
        await server.session.ask(server.session.worker.written)
    await _check_again(server)


def opened(server: Server, params: lsp.DidOpenTextDocumentParams) -> None:
    """A file is opened."""
    uri = server.documents.open(params.text_document)
    if uri is not None:
        server.session.check_soon(uri)


def changed(server: Server, params: lsp.DidChangeTextDocumentParams) -> None:
    """A file is changed."""
    uri = server.documents.change(params.text_document, params.content_changes)
    if uri is not None and server.settings_of(uri).run == "onType":
        server.session.check_soon(uri, _DELAY)


async def saved(server: Server, params: lsp.DidSaveTextDocumentParams) -> None:
    """A file is saved."""
    if params.text_document.uri.endswith(".toml"):
        await _check_again(server)
    elif params.text_document.uri in server.session.documents:
        path = server.session.documents[params.text_document.uri].path
        await server.session.ask(server.session.worker.written, path)
        server.session.check_soon(params.text_document.uri)
        server.session.finish(params.text_document.uri)


def closed(server: Server, params: lsp.DidCloseTextDocumentParams) -> None:
    """A file is closed."""
    if server.documents.close(params.text_document.uri):
        server.publish(params.text_document.uri, [])


def notebook_opened(server: Server, params: lsp.DidOpenNotebookDocumentParams) -> None:
    """A notebook is opened."""
    uri = server.documents.open_notebook(params)
    server.session.check_soon(uri)


def notebook_changed(server: Server, params: lsp.DidChangeNotebookDocumentParams) -> None:
    """A notebook is changed."""
    gone = server.documents.change_notebook(params)
    for uri in gone:
        server.publish(uri, [])
    uri = params.notebook_document.uri
    if server.settings_of(uri).run == "onType":
        server.session.check_soon(uri, _DELAY)


def notebook_saved(server: Server, params: lsp.DidSaveNotebookDocumentParams) -> None:
    """A notebook is saved."""
    server.session.check_soon(params.notebook_document.uri)


def notebook_closed(server: Server, params: lsp.DidCloseNotebookDocumentParams) -> None:
    """A notebook is closed."""
    for uri in server.documents.close_notebook(params.notebook_document.uri):
        server.publish(uri, [])


def shutdown(server: Server, _: None = None) -> None:
    """The editor takes its leave."""
    server.end()

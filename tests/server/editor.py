"""An editor, as far as a language server can tell: pygls' client over standard streams."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

PATIENCE = 30.0
"""In seconds; only what never comes takes as long."""

_Result = TypeVar("_Result")

EVERYTHING = lsp.ClientCapabilities(
    workspace=lsp.WorkspaceClientCapabilities(
        apply_edit=True,
        configuration=True,
        workspace_edit=lsp.WorkspaceEditClientCapabilities(document_changes=True),
        did_change_watched_files=lsp.DidChangeWatchedFilesClientCapabilities(
            dynamic_registration=True
        ),
        inlay_hint=lsp.InlayHintWorkspaceClientCapabilities(refresh_support=True),
        diagnostics=lsp.DiagnosticWorkspaceClientCapabilities(refresh_support=True),
    ),
    notebook_document=lsp.NotebookDocumentClientCapabilities(
        lsp.NotebookDocumentSyncClientCapabilities()
    ),
)


class Editor:
    """Starts a server, keeps what it shows, and asks it."""

    def __init__(self, root: Path, settings: object = None, **also: Any) -> None:
        self.root = root
        self.settings = settings
        self.settings_of: dict[str, object] = {}
        """What the folders of some URIs have in place of these settings."""
        self.shown: dict[str, list[lsp.PublishDiagnosticsParams]] = {}
        self.said: list[str] = []
        self.edits: list[lsp.WorkspaceEdit] = []
        self.refreshed: list[str] = []
        self.registered: list[str] = []
        self._news = threading.Condition()
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self.client = LanguageClient("editor", "1")
        self._listen()
        self.capabilities = self.do(lambda: self._start(also)).capabilities

    def _listen(self) -> None:
        feature = self.client.feature

        @feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def _(params: lsp.PublishDiagnosticsParams) -> None:
            self._note(self.shown.setdefault(params.uri, []), params)

        @feature(lsp.WINDOW_SHOW_MESSAGE)
        def _(params: lsp.ShowMessageParams) -> None:
            self._note(self.said, params.message)

        @feature(lsp.WINDOW_LOG_MESSAGE)
        def _(params: lsp.LogMessageParams) -> None:
            self._note(self.said, params.message)

        @feature(lsp.WORKSPACE_CONFIGURATION)
        def _(params: lsp.ConfigurationParams) -> list[object]:
            own = self.settings_of
            return [own.get(item.scope_uri or "", self.settings) for item in params.items]

        @feature(lsp.CLIENT_REGISTER_CAPABILITY)
        def _(params: lsp.RegistrationParams) -> None:
            for one in params.registrations:
                self._note(self.registered, one.method)

        @feature(lsp.WORKSPACE_APPLY_EDIT)
        def _(params: lsp.ApplyWorkspaceEditParams) -> lsp.ApplyWorkspaceEditResult:
            self._note(self.edits, params.edit)
            return lsp.ApplyWorkspaceEditResult(applied=True)

        for method in (lsp.WORKSPACE_DIAGNOSTIC_REFRESH, lsp.WORKSPACE_INLAY_HINT_REFRESH):
            feature(method)(lambda *_, method=method: self._note(self.refreshed, method))

    def _note(self, notes: list[Any], note: object) -> None:
        with self._news:
            notes.append(note)
            self._news.notify_all()

    async def _start(self, also: dict[str, Any]) -> lsp.InitializeResult:
        command = [sys.executable, "-m", "devicelint", "server", "--stdio"]
        await self.client.start_io(*command, cwd=str(self.root))
        asked = {"capabilities": EVERYTHING, "initialization_options": self.settings, **also}
        result = await self.client.initialize_async(
            lsp.InitializeParams(root_uri=self.root.as_uri(), **asked)
        )
        self.client.initialized(lsp.InitializedParams())
        return result

    def do(self, task: Callable[[], Coroutine[Any, Any, _Result]]) -> _Result:
        """What a coroutine gives, once it has run on the client's loop."""
        future: Future[_Result] = asyncio.run_coroutine_threadsafe(task(), self._loop)
        return future.result(PATIENCE)

    def tell(self, method: str, params: object) -> None:
        """Send a notification."""

        async def send() -> None:
            self.client.protocol.notify(method, params)

        self.do(send)

    def ask(self, method: str, params: object) -> Any:
        """Send a request, and return what is answered; raises what the server refuses it with."""

        async def send() -> Any:
            return await self.client.protocol.send_request_async(method, params)

        return self.do(send)

    def wait_for(self, happened: Callable[[], Any]) -> Any:
        """What is told once something has happened."""
        with self._news:
            assert self._news.wait_for(happened, PATIENCE), (self.shown, self.said)
            return happened()

    # -- what people do -------------------------------------------------------------------

    def open(self, path: Path, text: str, version: int = 1, language: str = "python") -> str:
        """Open a file that says something else than the disk may."""
        uri = path.as_uri()
        document = lsp.TextDocumentItem(uri, language, version, text)
        self.tell(lsp.TEXT_DOCUMENT_DID_OPEN, lsp.DidOpenTextDocumentParams(document))
        return uri

    def type(self, uri: str, version: int, text: str, place: lsp.Range | None = None) -> None:
        """Replace a range of a file, or all of it."""
        change: Any = lsp.TextDocumentContentChangeWholeDocument(text)
        if place is not None:
            change = lsp.TextDocumentContentChangePartial(place, text)
        document = lsp.VersionedTextDocumentIdentifier(version, uri)
        params = lsp.DidChangeTextDocumentParams(document, [change])
        self.tell(lsp.TEXT_DOCUMENT_DID_CHANGE, params)

    def close(self, uri: str) -> None:
        """Close a file."""
        params = lsp.DidCloseTextDocumentParams(lsp.TextDocumentIdentifier(uri))
        self.tell(lsp.TEXT_DOCUMENT_DID_CLOSE, params)

    def found(self, uri: str, version: int | None = 1) -> list[lsp.Diagnostic]:
        """What is shown of a version of a file, once that is shown."""
        shown = self.shown

        def newest() -> lsp.PublishDiagnosticsParams | None:
            return next((one for one in shown.get(uri, [])[::-1] if one.version == version), None)

        told: lsp.PublishDiagnosticsParams = self.wait_for(newest)
        return list(told.diagnostics)

    def newest(self, uri: str) -> list[lsp.Diagnostic] | None:
        """What is shown of a file now; None before anything is."""
        shown = self.shown.get(uri)
        return list(shown[-1].diagnostics) if shown else None

    def actions(
        self, uri: str, place: lsp.Range, only: list[str] | None = None
    ) -> list[lsp.CodeAction]:
        """What the editor may offer in a range."""
        document = lsp.TextDocumentIdentifier(uri)
        context = lsp.CodeActionContext([], only=only)
        params = lsp.CodeActionParams(document, place, context)
        return list(self.ask(lsp.TEXT_DOCUMENT_CODE_ACTION, params) or [])

    def leave(self) -> int | None:
        """Shut the server down, and return its exit status."""

        async def leave() -> int | None:
            await self.client.shutdown_async(None)
            self.client.exit(None)
            server = self.client._server
            assert server is not None
            await asyncio.wait_for(server.wait(), PATIENCE)
            await self.client.stop()
            return server.returncode

        status = self.do(leave)
        self._loop.call_soon_threadsafe(self._loop.stop)
        return status


def at(line: int, column: int, end: int | None = None) -> lsp.Range:
    """A range in one line, counted from zero."""
    start = lsp.Position(line, column)
    return lsp.Range(start, start if end is None else lsp.Position(line, end))


def applied(text: str, edits: list[lsp.TextEdit]) -> str:
    """A text after edits."""
    from devicelint.finding import Edit
    from devicelint.server.lines import Lines
    from devicelint.text.edits import apply

    lines = Lines(text)
    return apply(text, [Edit(lines.span(one.range), one.new_text) for one in edits])


def edited(edit: lsp.WorkspaceEdit | None, uri: str, text: str) -> str:
    """What a workspace edit makes of a file."""
    assert edit is not None
    for one in edit.document_changes or ():
        assert isinstance(one, lsp.TextDocumentEdit)
        if one.text_document.uri == uri:
            return applied(text, [e for e in one.edits if isinstance(e, lsp.TextEdit)])
    return text

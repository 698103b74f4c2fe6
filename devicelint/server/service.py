"""A server that listens: each message of the protocol with what is done about it."""

from __future__ import annotations

from typing import Any

from lsprotocol import types as lsp

from devicelint.server import answers, notices
from devicelint.server.actions import ADOPT_COMMAND, FIX_ALL_COMMAND, FIX_ALL_KINDS
from devicelint.server.server import Server

WHERE_MOVED_COMMAND = "devicelint.whereMoved"

_HANDLERS: dict[str, Any] = {
    lsp.INITIALIZE: notices.initialize,
    lsp.INITIALIZED: notices.initialized,
    lsp.SHUTDOWN: notices.shutdown,
    lsp.WORKSPACE_DID_CHANGE_CONFIGURATION: notices.configuration_changed,
    lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES: notices.files_changed,
    lsp.TEXT_DOCUMENT_DID_OPEN: notices.opened,
    lsp.TEXT_DOCUMENT_DID_CHANGE: notices.changed,
    lsp.TEXT_DOCUMENT_DID_SAVE: notices.saved,
    lsp.TEXT_DOCUMENT_DID_CLOSE: notices.closed,
    lsp.NOTEBOOK_DOCUMENT_DID_OPEN: notices.notebook_opened,
    lsp.NOTEBOOK_DOCUMENT_DID_CHANGE: notices.notebook_changed,
    lsp.NOTEBOOK_DOCUMENT_DID_SAVE: notices.notebook_saved,
    lsp.NOTEBOOK_DOCUMENT_DID_CLOSE: notices.notebook_closed,
    lsp.TEXT_DOCUMENT_CODE_ACTION: answers.actions,
    lsp.TEXT_DOCUMENT_HOVER: answers.hover,
    lsp.TEXT_DOCUMENT_INLAY_HINT: answers.hints,
    lsp.TEXT_DOCUMENT_DEFINITION: answers.definition,
}
_COMMANDS: dict[str, Any] = {
    ADOPT_COMMAND: answers.adopt,
    FIX_ALL_COMMAND: answers.fix_all,
    WHERE_MOVED_COMMAND: answers.where_moved,
}
_OPTIONS: dict[str, Any] = {
    lsp.TEXT_DOCUMENT_CODE_ACTION: lsp.CodeActionOptions(
        code_action_kinds=[lsp.CodeActionKind.QuickFix, *FIX_ALL_KINDS]
    ),
    lsp.TEXT_DOCUMENT_INLAY_HINT: lsp.InlayHintOptions(resolve_provider=False),
}


def listening() -> Server:
    """A server that does everything that it can do."""
    server = Server()
    for message, handler in _HANDLERS.items():
        server.feature(message, _OPTIONS.get(message))(handler)
    for command, handler in _COMMANDS.items():
        server.command(command)(handler)
    return server

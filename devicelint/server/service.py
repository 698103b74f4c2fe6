"""A server that listens: each message of the protocol with what is done about it."""

from __future__ import annotations

from typing import Any

from lsprotocol import types as lsp

from devicelint.server import notifications, requests, rule_pages
from devicelint.server.actions import ADOPT_COMMAND, FIX_ALL_COMMAND, FIX_ALL_KINDS
from devicelint.server.server import Server

WHERE_MOVED_COMMAND = "devicelint.whereMoved"
RULES_COMMAND = "devicelint.rules"
RULE_PAGE_COMMAND = "devicelint.rulePage"

_HANDLERS: dict[str, Any] = {
    lsp.INITIALIZE: notifications.initialize,
    lsp.INITIALIZED: notifications.initialized,
    lsp.SHUTDOWN: notifications.shutdown,
    lsp.WORKSPACE_DID_CHANGE_CONFIGURATION: notifications.configuration_changed,
    lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES: notifications.files_changed,
    lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: notifications.folders_changed,
    lsp.TEXT_DOCUMENT_DID_OPEN: notifications.opened,
    lsp.TEXT_DOCUMENT_DID_CHANGE: notifications.changed,
    lsp.TEXT_DOCUMENT_DID_SAVE: notifications.saved,
    lsp.TEXT_DOCUMENT_DID_CLOSE: notifications.closed,
    lsp.NOTEBOOK_DOCUMENT_DID_OPEN: notifications.notebook_opened,
    lsp.NOTEBOOK_DOCUMENT_DID_CHANGE: notifications.notebook_changed,
    lsp.NOTEBOOK_DOCUMENT_DID_SAVE: notifications.notebook_saved,
    lsp.NOTEBOOK_DOCUMENT_DID_CLOSE: notifications.notebook_closed,
    lsp.TEXT_DOCUMENT_CODE_ACTION: requests.actions,
    lsp.TEXT_DOCUMENT_HOVER: requests.hover,
    lsp.TEXT_DOCUMENT_INLAY_HINT: requests.hints,
    lsp.TEXT_DOCUMENT_DEFINITION: requests.definition,
}
_COMMANDS: dict[str, Any] = {
    ADOPT_COMMAND: requests.adopt,
    FIX_ALL_COMMAND: requests.fix_all,
    WHERE_MOVED_COMMAND: requests.where_moved,
    RULES_COMMAND: rule_pages.rules,
    RULE_PAGE_COMMAND: rule_pages.rule_page,
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

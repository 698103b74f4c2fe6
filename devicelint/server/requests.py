"""What the editor asks: what is found, what can be done about it, and where values are."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types as lsp
from pygls.uris import to_fs_path

from devicelint.finding import FAR, Finding, Fix, InputError
from devicelint.server import hovers
from devicelint.server.actions import (
    FIX_ALL_KINDS,
    findings_in,
    fix_all_action,
    ignore,
    quick_fix,
    wants,
    without_versions,
    workspace_edit,
)
from devicelint.server.analysis import DocumentAnalysis
from devicelint.server.hints import inlay_hints
from devicelint.server.open_documents import OpenDocument
from devicelint.server.other_files import documents_at
from devicelint.server.server import Server
from devicelint.text.source import SourceFile


async def pull(
    server: Server, params: lsp.DocumentDiagnosticParams
) -> lsp.DocumentDiagnosticReport:
    """What is found in a file; of cells, not every editor asks, so that these are sent unasked."""
    uri, session = params.text_document.uri, server.session
    wanted = session.analysis_of if server.refreshes else session.whole_analysis_of
    analysis = await wanted(uri)
    found = [] if analysis is None else server.shown(analysis).get(uri, [])
    return lsp.RelatedFullDocumentDiagnosticReport(found)


async def _analysis(server: Server, uri: str) -> DocumentAnalysis | None:
    """What is known of a file, or of the notebook of a cell."""
    return await server.session.analysis_of(server.documents.document_of(uri))


async def actions(server: Server, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
    """What can be done about the findings of a range."""
    uri = params.text_document.uri
    analysis = await _analysis(server, uri)
    if analysis is None or not server.settings_of(uri).enable:
        return []
    found: list[lsp.CodeAction] = []
    if wants(params.context, lsp.CodeActionKind.QuickFix):
        found += await _quick_fixes(server, analysis, params)
    kinds = [kind for kind in FIX_ALL_KINDS if params.context.only and wants(params.context, kind)]
    if kinds and (edit := await _all_fixed(server, analysis)):
        title = "Fix all device mistakes that can be fixed safely"
        found.append(lsp.CodeAction(title, kind=kinds[0], edit=edit))
    return [_fitting(server, one) for one in found]


async def _quick_fixes(
    server: Server, analysis: DocumentAnalysis, params: lsp.CodeActionParams
) -> list[lsp.CodeAction]:
    """What can be done about some findings: a fix is offered once it is known to help."""
    document, context = analysis.document, params.context
    there = findings_in(analysis, params.text_document.uri, params.range)
    fixable = [one for one in there if one.fix is not None or one.unfixed == FAR]
    found: list[lsp.CodeAction] = []
    for finding in fixable[:_MOST_FIXES]:
        fixed_by = await server.session.ask(_made_by, server, analysis, finding)
        if fixed_by is not None:
            found.append(quick_fix(document, finding, *fixed_by, context))
    for finding in there:
        found += ignore(document, finding, context)
    return [*found, fix_all_action(document)] if any(one.fix for one in there) else found


def _made_by(
    server: Server, analysis: DocumentAnalysis, finding: Finding
) -> tuple[Fix, list[tuple[OpenDocument, SourceFile]]] | None:
    """The fix of a finding, and what it makes of documents; None where it would do harm."""
    session, document = server.session, analysis.document
    if finding.fix is not None:
        after = session.worker.fixed_by(analysis, finding)
        return None if after is None else (finding.fix, [(document, after)])
    others = documents_at(
        analysis.reached, session.documents, server.roots, server.documents.encoding
    )
    return session.worker.fixed_across_files(document, finding, [*others])


_MOST_FIXES = 5
"""Of more findings than that, nobody picks one from a list."""


def _fitting(server: Server, action: lsp.CodeAction) -> lsp.CodeAction:
    if action.edit is not None:
        action.edit = _fitting_edit(server, action.edit)
    return action


def _fitting_edit(server: Server, edit: lsp.WorkspaceEdit) -> lsp.WorkspaceEdit:
    """An edit as the editor understands it."""
    workspace = server.client_capabilities.workspace
    known = workspace.workspace_edit if workspace is not None else None
    return edit if known and known.document_changes else without_versions(edit)


async def _all_fixed(
    server: Server, analysis: DocumentAnalysis, *, adopts: bool = False
) -> lsp.WorkspaceEdit | None:
    """What the fixes of a document come to; None where there is nothing to fix."""
    if not analysis.is_of_now or analysis.problem is not None:
        return None
    document = analysis.document
    if not adopts and not any(one.fix for one in analysis.findings):
        return None
    try:
        after = await server.session.ask(
            lambda: server.session.worker.fixed(document, adopts=adopts)
        )
    except InputError:
        return None
    return workspace_edit(document, after)


async def hints(server: Server, params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
    """The devices beside the code in view."""
    analysis = await _analysis(server, params.text_document.uri)
    settings = server.settings_of(params.text_document.uri)
    if analysis is None or not (settings.enable and settings.inlay_hints):
        return []
    uri = params.text_document.uri
    return await server.session.ask(lambda: list(inlay_hints(analysis, uri, params.range)))


async def hover(server: Server, params: lsp.HoverParams) -> lsp.Hover | None:
    """Where the value below the pointer is."""
    analysis = await _analysis(server, params.text_document.uri)
    settings = server.settings_of(params.text_document.uri)
    if analysis is None or not (settings.enable and settings.hover):
        return None
    return await server.session.ask(
        hovers.hover, analysis, params.text_document.uri, params.position
    )


async def definition(server: Server, params: lsp.DefinitionParams) -> list[lsp.Location]:
    """Where the value was moved."""
    analysis = await _analysis(server, params.text_document.uri)
    settings = server.settings_of(params.text_document.uri)
    if analysis is None or not (settings.enable and settings.definition):
        return []
    return await server.session.ask(
        hovers.moves, analysis, params.text_document.uri, params.position
    )


async def where_moved(server: Server, place: lsp.TextDocumentPositionParams) -> list[lsp.Location]:
    """As the definition, whether or not that is to lead there."""
    uri = place.text_document.uri
    analysis = await _analysis(server, uri)
    if analysis is None:
        return []
    return await server.session.ask(hovers.moves, analysis, uri, place.position)


async def fix_all(server: Server, uri: str) -> bool:
    """Fix all of a file, and say whether that changes it."""
    return await _apply(server, uri, "Fix all device mistakes", adopts=False)


async def adopt(server: Server, uri: str) -> bool:
    """Bring a file to one device, and say whether that changes it."""
    return await _apply(server, uri, "Bring the file to one device", adopts=True)


async def _apply(server: Server, uri: str, label: str, *, adopts: bool) -> bool:
    analysis = await _analysis(server, uri)
    edit = None if analysis is None else await _all_fixed(server, analysis, adopts=adopts)
    if edit is None:
        server.say(f"nothing to change in {Path(to_fs_path(uri) or uri).name}")
        return False
    await server.workspace_apply_edit_async(
        lsp.ApplyWorkspaceEditParams(_fitting_edit(server, edit), label)
    )
    return True

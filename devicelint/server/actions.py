"""What the editor offers to do about findings: fix one, fix all, suppress one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher

from lsprotocol.types import (
    CodeAction,
    CodeActionContext,
    CodeActionKind,
    Command,
    Diagnostic,
    OptionalVersionedTextDocumentIdentifier,
    Range,
    TextDocumentEdit,
    TextEdit,
    WorkspaceEdit,
)

from devicelint.finding import Edit, Finding, Fix, Safety, Span
from devicelint.server.analysis import DocumentAnalysis, common
from devicelint.server.open_documents import OpenDocument, Part
from devicelint.suppression.write import Style, suppress
from devicelint.text.source import SourceFile

FIX_ALL = "source.fixAll.devicelint"
FIX_ALL_KINDS = (FIX_ALL, f"notebook.{FIX_ALL}")
"""What editors ask for when a file is saved, and when a notebook is."""
FIX_ALL_COMMAND = "devicelint.fixAll"
ADOPT_COMMAND = "devicelint.adopt"


def wants(context: CodeActionContext, kind: str) -> bool:
    """Whether the editor asks for actions of a kind, or for all."""
    return context.only is None or any(
        kind == one or kind.startswith(f"{one}.") or one == "" for one in context.only
    )


def findings_in(analysis: DocumentAnalysis, uri: str, place: Range) -> list[Finding]:
    """The findings of a range of a file or cell, where something can be done about them now."""
    if not analysis.is_of_now:
        return []
    return [one for one in analysis.findings if _meets(analysis.document, one, uri, place)]


def quick_fix(
    document: OpenDocument,
    finding: Finding,
    fix: Fix,
    made: Iterable[tuple[OpenDocument, SourceFile]],
    context: CodeActionContext,
) -> CodeAction:
    """Make the fix of a finding of a document, and what it makes of this document and of others."""
    edits = [edit for each in made if (edit := workspace_edit(*each))]
    changes = [change for edit in edits for change in edit.document_changes or ()]
    return CodeAction(
        _title(finding, fix),
        kind=CodeActionKind.QuickFix,
        diagnostics=_diagnostics_of(document, finding, context),
        is_preferred=fix.safety is Safety.SAFE,
        edit=WorkspaceEdit(document_changes=changes),
    )


def ignore(
    document: OpenDocument, finding: Finding, context: CodeActionContext
) -> Iterator[CodeAction]:
    """Write a comment that suppresses a finding, where one can stand."""
    suppressed = suppress(document.source, [finding], Style.IGNORE)
    if not suppressed.left:
        yield CodeAction(
            f"Ignore {finding.code} ({finding.name}) here",
            kind=CodeActionKind.QuickFix,
            diagnostics=_diagnostics_of(document, finding, context),
            edit=workspace_edit(document, suppressed.source),
        )


def fix_all_action(document: OpenDocument) -> CodeAction:
    """Make all fixes of a document; they are found out when that is wanted."""
    title = "Fix all that is safe in this file"
    command = Command(title, FIX_ALL_COMMAND, arguments=[document.uri])
    return CodeAction(title, kind=CodeActionKind.QuickFix, command=command)


def workspace_edit(document: OpenDocument, after: SourceFile) -> WorkspaceEdit | None:
    """What turns a document into another source; None where nothing changes."""
    texts = document.texts(after)
    changed = [(part, texts.get(part.uri, part.text)) for part in document.parts()]
    changes = [
        TextDocumentEdit(
            OptionalVersionedTextDocumentIdentifier(part.uri, part.version),
            [*text_edits(part, text)],
        )
        for part, text in changed
        if text != part.text
    ]
    return WorkspaceEdit(document_changes=changes) if changes else None


def without_versions(edit: WorkspaceEdit) -> WorkspaceEdit:
    """The same, for an editor that knows nothing of versions."""
    changes: dict[str, Sequence[TextEdit]] = {}
    for one in edit.document_changes or ():
        assert isinstance(one, TextDocumentEdit)
        changes[one.text_document.uri] = [e for e in one.edits if isinstance(e, TextEdit)]
    return WorkspaceEdit(changes=changes)


def text_edits(part: Part, after: str) -> Iterator[TextEdit]:
    """What turns a text into another: the lines that differ, without what they share."""
    for edit in edits_between(part.text, after):
        yield TextEdit(part.lines.range(edit.span), edit.content)


def edits_between(before: str, after: str) -> Iterator[Edit]:
    """The stretches in which two texts differ."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    starts = [0]
    for line in old:
        starts.append(starts[-1] + len(line))
    for kind, i, j, m, n in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            yield _trimmed(starts[i], before[starts[i] : starts[j]], "".join(new[m:n]))


def _trimmed(start: int, old: str, new: str) -> Edit:
    head = common(old, new)
    tail = min(common(old[::-1], new[::-1]), min(len(old), len(new)) - head)
    span = Span(start + head, start + len(old) - tail)
    return Edit(span, new[head : len(new) - tail])


def _meets(document: OpenDocument, finding: Finding, uri: str, place: Range) -> bool:
    there = document.location(finding.span)
    return there.uri == uri and there.range.start <= place.end and place.start <= there.range.end


def _title(finding: Finding, fix: Fix) -> str:
    plain = fix.message.replace("`", "")
    is_safe = fix.safety is Safety.SAFE
    return f"{plain} ({finding.code})" if is_safe else f"{plain} ({finding.code}, unsafe)"


def _diagnostics_of(
    document: OpenDocument, finding: Finding, context: CodeActionContext
) -> list[Diagnostic]:
    """What of the editor's own list the finding is."""
    place = document.location(finding.span).range
    return [one for one in context.diagnostics if one.code == finding.code and one.range == place]

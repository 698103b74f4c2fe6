"""The language server, as an editor meets it: over standard streams, with a real client."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from tests.server.editor import Editor, at, edited

CLASH = """\
import torch

model = torch.nn.Linear(3, 1).to("cuda")
x = torch.zeros(4, 3)
print(model(x))
"""

MENDED = CLASH.replace("zeros(4, 3)", 'zeros(4, 3, device="cuda")')


@pytest.fixture(scope="module")
def editor(tmp_path_factory) -> Iterator[Editor]:
    editor = Editor(tmp_path_factory.mktemp("workspace"))
    yield editor
    assert editor.leave() == 0


@pytest.fixture
def path(editor, request) -> Path:
    folder: Path = editor.root / request.node.name
    folder.mkdir()
    return folder / "train.py"


def codes(found: list[lsp.Diagnostic]) -> list[tuple[object, int, int]]:
    return [(one.code, one.range.start.line, one.range.start.character) for one in found]


def test_findings_are_shown_when_a_file_is_opened(editor, path):
    uri = editor.open(path, CLASH)
    assert codes(editor.found(uri)) == [("DEV103", 3, 4)]


def test_a_finding_tells_all_that_the_report_tells(editor, path):
    (found,) = editor.found(editor.open(path, CLASH))
    assert found.severity == lsp.DiagnosticSeverity.Error
    assert found.source == "devicelint"
    assert found.message == (
        "`torch.zeros(4, 3)` is created on the CPU and is an input of module `model`,"
        " which is on cuda since line 3: create it with device=\n(with an accelerator)"
    )
    assert found.range == at(3, 4, 21)
    assert [(one.location.range, one.message) for one in found.related_information or ()] == [
        (at(2, 30, 32), "moved to cuda here"),
        (at(4, 6, 14), "fails here"),
    ]


def test_what_is_typed_counts_and_not_what_is_on_the_disk(editor, path):
    path.write_text("import torch\n")
    uri = editor.open(path, CLASH)
    assert len(editor.found(uri)) == 1
    editor.type(uri, 2, '.to("cuda")', at(3, 21))
    assert editor.found(uri, 2) == []
    editor.type(uri, 3, CLASH)
    assert codes(editor.found(uri, 3)) == [("DEV103", 3, 4)]


def test_the_fix_of_a_finding_is_offered_where_it_is(editor, path):
    uri = editor.open(path, CLASH)
    assert [one.title for one in editor.actions(uri, at(0, 0))] == []
    mend, ignore, every = editor.actions(uri, at(3, 10))
    assert (mend.title, mend.kind, mend.is_preferred) == (
        'Create it with device="cuda" (DEV103)',
        lsp.CodeActionKind.QuickFix,
        True,
    )
    assert edited(mend.edit, uri, CLASH) == MENDED
    assert ignore.title == "Ignore DEV103 (created-on-cpu) here"
    assert edited(ignore.edit, uri, CLASH) == CLASH.replace(
        "zeros(4, 3)", "zeros(4, 3)  # devicelint: ignore[DEV103]"
    )
    assert every.title == "Mend all that is safe in this file"


def test_all_is_mended_at_once_when_that_is_asked_for(editor, path):
    moved = "y = torch.ones(2)\ny.cuda()\n"
    text = CLASH + moved
    uri = editor.open(path, text)
    (action,) = editor.actions(uri, at(0, 0), only=["source.fixAll"])
    assert action.kind == "source.fixAll.devicelint"
    assert edited(action.edit, uri, text) == MENDED + moved
    params = lsp.ExecuteCommandParams("devicelint.fixAll", [uri])
    editor.ask(lsp.WORKSPACE_EXECUTE_COMMAND, params)
    assert edited(editor.edits[-1], uri, text) == edited(action.edit, uri, text)


def test_what_was_known_stays_in_its_place_over_a_syntax_error(editor, path):
    uri = editor.open(path, CLASH)
    editor.found(uri)
    editor.type(uri, 2, "def (\n", at(1, 0))
    found = editor.found(uri, 2)
    assert codes(found) == [("DEV103", 4, 4), (None, 1, 4)]
    assert found[1].message == "syntax error: invalid syntax"
    assert editor.actions(uri, at(4, 10)) == []
    editor.type(uri, 3, "", lsp.Range(lsp.Position(1, 0), lsp.Position(2, 0)))
    assert codes(editor.found(uri, 3)) == [("DEV103", 3, 4)]


def hints(editor, uri) -> list[tuple[int, int, str]]:
    place = lsp.Range(lsp.Position(0, 0), lsp.Position(1000, 0))
    params = lsp.InlayHintParams(lsp.TextDocumentIdentifier(uri), place)
    found = editor.ask(lsp.TEXT_DOCUMENT_INLAY_HINT, params)
    return [(one.position.line, one.position.character, one.label) for one in found]


def test_hints_tell_the_device_of_what_is_assigned(editor, path):
    uri = editor.open(path, CLASH + "model.cpu()\n")
    assert hints(editor, uri) == [(2, 5, ": cuda"), (3, 1, ": cpu"), (5, 11, " → cpu")]


def test_hints_stay_beside_their_names_over_a_syntax_error(editor, path):
    uri = editor.open(path, CLASH)
    editor.found(uri)
    editor.type(uri, 2, "def (\n", at(1, 0))
    assert hints(editor, uri) == [(3, 5, ": cuda"), (4, 1, ": cpu")]


def test_a_pointer_shows_the_device_and_its_history(editor, path):
    uri = editor.open(path, CLASH)
    document = lsp.TextDocumentIdentifier(uri)
    shown = editor.ask(lsp.TEXT_DOCUMENT_HOVER, lsp.HoverParams(document, lsp.Position(4, 7)))
    assert shown.range == at(4, 6, 11)
    assert shown.contents.value == (
        "**cuda** — with an accelerator\n"
        f"- [line 3]({uri}#L3): module built on cpu here\n"
        f"- [line 3]({uri}#L3): moved to cuda here"
    )
    nothing = editor.ask(lsp.TEXT_DOCUMENT_HOVER, lsp.HoverParams(document, lsp.Position(0, 3)))
    assert nothing is None


def test_one_goes_to_where_a_value_was_moved(editor, path):
    uri = editor.open(path, CLASH)
    document = lsp.TextDocumentIdentifier(uri)
    asked = lsp.DefinitionParams(document, lsp.Position(4, 7))
    found = editor.ask(lsp.TEXT_DOCUMENT_DEFINITION, asked)
    assert [(one.uri, one.range) for one in found] == [(uri, at(2, 8))]

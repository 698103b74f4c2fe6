"""The language server, as an editor meets it: over standard streams, with a real client."""

from __future__ import annotations

import asyncio

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from tests.server.editor import at, edited

CLASH = """\
import torch
assert torch.cuda.is_available()
model = torch.nn.Linear(3, 1).to("cuda")
x = torch.zeros(4, 3)
print(model(x))
"""

FIXED = CLASH.replace("zeros(4, 3)", 'zeros(4, 3, device="cuda")')


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
        "`torch.zeros(4, 3)` is created on the CPU, but is passed to module `model`,"
        " which is on cuda since line 3: create it with device=\n(with an accelerator)"
    )
    assert found.range == at(3, 4, 21)
    assert [(one.location.range, one.message) for one in found.related_information or ()] == [
        (at(2, 30, 32), "moved to cuda here"),
        (at(4, 6, 14), "fails here"),
    ]


def test_a_comment_of_no_use_is_shown_as_unnecessary(editor, path):
    text = "import torch\n\nx = torch.ones(2)  # noqa: DEV104\n"
    uri = editor.open(path, text)
    (found,) = editor.found(uri)
    assert (found.code, found.range) == ("DEV901", at(2, 19, 33))
    assert list(found.tags or ()) == [lsp.DiagnosticTag.Unnecessary]
    action = editor.actions(uri, at(2, 25))[0]
    assert edited(action.edit, uri, text) == text.replace("  # noqa: DEV104", "")


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
    action, ignore, every = editor.actions(uri, at(3, 10))
    assert (action.title, action.kind, action.is_preferred) == (
        'Create it with device="cuda" (DEV103)',
        lsp.CodeActionKind.QuickFix,
        True,
    )
    assert edited(action.edit, uri, CLASH) == FIXED
    assert ignore.title == "Ignore DEV103 (created-on-cpu) here"
    assert edited(ignore.edit, uri, CLASH) == CLASH.replace(
        "zeros(4, 3)", "zeros(4, 3)  # devicelint: ignore[DEV103]"
    )
    assert every.title == "Fix all that is safe in this file"


def test_a_fix_brings_the_fixes_that_it_calls_for(editor, path):
    text = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(TensorDataset(torch.rand(8, 3), torch.rand(8, 1)))
for x, y in loader:
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
"""
    uri = editor.open(path, text)
    assert codes(editor.found(uri)) == [("DEV701", 4, 0)]
    action, *_ = editor.actions(uri, at(4, 0))
    after = edited(action.edit, uri, text)
    assert "model = nn.Linear(3, 1).to(device)\n" in after
    assert "for x, y in loader:\n    x = x.to(device)\n    y = y.to(device)\n" in after


def test_a_fix_that_does_harm_is_not_offered(editor, path):
    text = """\
import torch
assert torch.cuda.is_available()
x = torch.rand(4)
x.to("cuda")
print(x.numpy())
"""
    uri = editor.open(path, text)
    assert codes(editor.found(uri)) == [("DEV104", 3, 0)]
    titles = [one.title for one in editor.actions(uri, at(3, 0))]
    assert titles == [
        "Ignore DEV104 (discarded-move) here",
        "Fix all that is safe in this file",
    ]


def test_a_fix_may_be_written_in_another_file(editor, path):
    helper = path.with_name("helper.py")
    other = "import torch\n\n\ndef make(n, device):\n    return torch.zeros(n, 4)\n"
    helper.write_text(other)
    text = """\
import torch
from torch import nn
from helper import make

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 2).to(device)
x = make(3, device)
print(model(x))
"""
    uri = editor.open(path, text)
    assert codes(editor.found(uri)) == [("DEV407", 6, 12), ("DEV101", 7, 12)]
    action, *_ = editor.actions(uri, at(6, 12))
    fixed_text = other.replace("n, 4)", "n, 4, device=device)")
    assert edited(action.edit, helper.as_uri(), other) == fixed_text
    assert edited(action.edit, uri, text) == text
    there = editor.open(helper, "\n" + other, version=7)
    action, *_ = editor.actions(uri, at(6, 12))
    assert edited(action.edit, there, "\n" + other) == "\n" + fixed_text
    assert action.edit.document_changes[0].text_document.version == 7
    assert codes(editor.found(uri)) == [("DEV407", 6, 12), ("DEV101", 7, 12)]


def test_all_is_fixed_at_once_when_that_is_asked_for(editor, path):
    moved = "y = torch.ones(2)\ny.cuda()\n"
    text = CLASH + moved
    uri = editor.open(path, text)
    (action,) = editor.actions(uri, at(0, 0), only=["source.fixAll"])
    assert action.kind == "source.fixAll.devicelint"
    assert edited(action.edit, uri, text) == FIXED + moved
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


def test_a_hint_tells_the_whole_history(editor, path):
    uri = editor.open(path, CLASH)
    place = lsp.Range(lsp.Position(2, 0), lsp.Position(2, 0))
    params = lsp.InlayHintParams(lsp.TextDocumentIdentifier(uri), place)
    (hint,) = editor.ask(lsp.TEXT_DOCUMENT_INLAY_HINT, params)
    assert hint.tooltip.value == (
        "**cuda** — with an accelerator\n"
        f"- [line 3]({uri}#L3): module built on cpu here\n"
        f"- [line 3]({uri}#L3): moved to cuda here"
    )


def test_a_request_that_is_taken_back_is_answered_as_such(editor, path):
    text = CLASH + "for _ in range(9):\n    x = x + torch.zeros(4, 3)\n" * 200
    uri = editor.open(path, text)

    async def taken_back() -> object:
        params = lsp.HoverParams(lsp.TextDocumentIdentifier(uri), lsp.Position(4, 7))
        protocol = editor.client.protocol
        asked = protocol.send_request(lsp.TEXT_DOCUMENT_HOVER, params, msg_id="taken")
        protocol.notify(lsp.CANCEL_REQUEST, lsp.CancelParams("taken"))
        return await asyncio.wrap_future(asked)

    with pytest.raises(JsonRpcException, match="cancel"):
        editor.do(taken_back)
    assert editor.found(uri) != []


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


def test_a_function_of_another_open_file_counts_as_it_is_typed(editor, path):
    other = path.with_name("data.py")
    path.write_text("from data import batch\n")
    data = "import torch\n\ndef batch():\n    return torch.zeros(4, 3)\n"
    other.write_text(data.replace("3)", '3, device="cuda")'))
    text = CLASH.replace("import torch\n", "import torch\nfrom data import batch\n")
    text = text.replace("torch.zeros(4, 3)", "batch()")
    uri = editor.open(path, text)
    assert editor.found(uri) == []
    there = editor.open(other, data)
    editor.wait_for(lambda: len(editor.shown[uri]) > 1)
    (found,) = editor.found(uri)
    assert (found.code, found.range) == ("DEV101", at(5, 12, 13))
    place = found.related_information[-1]
    assert (place.location.uri, place.location.range) == (there, at(3, 11))
    document = lsp.TextDocumentIdentifier(uri)
    asked = lsp.DefinitionParams(document, lsp.Position(5, 12))
    (origin,) = editor.ask(lsp.TEXT_DOCUMENT_DEFINITION, asked)
    assert (origin.uri, origin.range) == (there, at(3, 11))
    editor.close(there)
    editor.wait_for(lambda: not editor.shown[uri][-1].diagnostics)


def test_a_file_that_appears_is_found_by_those_that_import_it(editor, path):
    text = CLASH.replace("import torch\n", "import torch\nfrom sizes import batch\n")
    uri = editor.open(path, text.replace("torch.zeros(4, 3)", "batch()"))
    assert editor.found(uri) == []
    other = path.with_name("sizes.py")
    other.write_text("import torch\n\ndef batch():\n    return torch.zeros(4, 3)\n")
    change = lsp.FileEvent(other.as_uri(), lsp.FileChangeType.Created)
    editor.tell(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, lsp.DidChangeWatchedFilesParams([change]))
    editor.wait_for(lambda: codes(editor.shown[uri][-1].diagnostics) == [("DEV101", 5, 12)])


def test_the_editor_is_asked_to_watch_what_decides(editor):
    editor.wait_for(lambda: "workspace/didChangeWatchedFiles" in editor.registered)


def test_the_configuration_of_the_project_holds_and_is_read_again(editor, path):
    settings = path.with_name("devicelint.toml")
    settings.write_text('ignore = ["DEV103"]\n')
    uri = editor.open(path, CLASH)
    assert editor.found(uri) == []
    settings.write_text('severity = { DEV103 = "note" }\n')
    change = lsp.FileEvent(settings.as_uri(), lsp.FileChangeType.Changed)
    changed = lsp.DidChangeWatchedFilesParams([change])
    editor.tell(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, changed)
    (found,) = editor.wait_for(lambda: editor.shown[uri][-1].diagnostics)
    assert found.severity == lsp.DiagnosticSeverity.Information


def test_a_broken_configuration_is_shown_where_it_is_broken(editor, path):
    settings = path.with_name("devicelint.toml")
    settings.write_text('[per-file-ignores]\n"a.py" = ["DEV10X"]\n')
    editor.found(editor.open(path, CLASH))
    (found,) = editor.found(settings.as_uri(), None)
    assert found.range.start == lsp.Position(1, 11)
    assert "DEV10X" in found.message
    assert any("DEV10X" in one and "devicelint.toml:2:12" in one for one in editor.said)
    settings.write_text("")
    saved = lsp.DidSaveTextDocumentParams(lsp.TextDocumentIdentifier(settings.as_uri()))
    editor.tell(lsp.TEXT_DOCUMENT_DID_SAVE, saved)
    editor.wait_for(lambda: not editor.shown[settings.as_uri()][-1].diagnostics)


def test_what_a_baseline_knows_is_not_shown(editor, path):
    from devicelint.cli import main

    path.write_text(CLASH)
    baseline = path.with_name("known.json")
    assert main([str(path), "--write-baseline", str(baseline), "-q"]) == 0
    path.with_name("devicelint.toml").write_text('baseline = "known.json"\n')
    uri = editor.open(path, CLASH + "y = torch.ones(2)\ny.cuda()\n")
    assert codes(editor.found(uri)) == [("DEV104", 6, 0)]


def test_places_are_told_as_the_editor_counts_them(editor, path):
    text = CLASH.replace("x = torch", 'x, 😀 = 1, 2; "\x0c\u2028😀"; x = torch')
    text = text.replace("x, 😀 = 1, 2; ", "")
    uri = editor.open(path, text)
    assert codes(editor.found(uri)) == [("DEV103", 3, 12)]
    (action, *_) = editor.actions(uri, at(3, 14))
    assert edited(action.edit, uri, text) == text.replace("4, 3)", '4, 3, device="cuda")')
    editor.type(uri, 2, "🎉", at(3, 3, 5))
    assert codes(editor.found(uri, 2)) == [("DEV103", 3, 12)]


def test_carriage_returns_stay(editor, path):
    text = CLASH.replace("\n", "\r\n")
    uri = editor.open(path, text)
    (action,) = editor.actions(uri, at(0, 0), only=["source.fixAll.devicelint"])
    assert edited(action.edit, uri, text) == FIXED.replace("\n", "\r\n")


def test_what_is_excluded_or_no_python_is_left_alone(editor, path):
    path.with_name("devicelint.toml").write_text('exclude = ["train.py"]\n')
    assert editor.found(editor.open(path, CLASH)) == []
    other = editor.open(path.with_name("notes.txt"), CLASH, language="plaintext")
    assert editor.actions(other, at(3, 10)) == []


def test_a_closed_file_has_no_findings(editor, path):
    uri = editor.open(path, CLASH)
    assert editor.found(uri) != []
    editor.close(uri)
    assert editor.wait_for(lambda: editor.shown[uri][-1].version is None)
    assert not editor.shown[uri][-1].diagnostics
    assert hints(editor, uri) == []


def test_a_file_that_was_never_saved_is_checked(editor):
    uri = "untitled:Untitled-1"
    document = lsp.TextDocumentItem(uri, "python", 1, CLASH)
    editor.tell(lsp.TEXT_DOCUMENT_DID_OPEN, lsp.DidOpenTextDocumentParams(document))
    assert codes(editor.found(uri)) == [("DEV103", 3, 4)]


def test_a_path_with_blanks_and_beyond_ascii_keeps_its_name(editor, path):
    uri = editor.open(path.with_name("möñ dél 100%.py"), CLASH)
    (found,) = editor.found(uri)
    assert found.related_information[0].location.uri == uri
    (action, *_) = editor.actions(uri, at(3, 10))
    assert edited(action.edit, uri, CLASH) == FIXED


def test_markdown_is_checked_where_the_editor_asks_for_it(editor, path):
    text = f"# Page\n\n```python\n{CLASH}```\n"
    uri = editor.open(path.with_suffix(".md"), text, language="markdown")
    assert codes(editor.found(uri)) == [("DEV103", 6, 4)]


def test_only_the_newest_version_is_told_of(editor, path):
    uri = editor.open(path, CLASH)
    for version in range(2, 12):
        editor.type(uri, version, "#\n", at(0, 0))
    assert codes(editor.found(uri, 11)) == [("DEV103", 13, 4)]
    told = [one.version for one in editor.shown[uri]]
    assert told[-1] == 11
    assert len(told) < 10


def test_the_page_of_a_rule_is_told(editor):
    def told(command: str, *given: object):
        params = lsp.ExecuteCommandParams(command, arguments=list(given))
        return editor.ask(lsp.WORKSPACE_EXECUTE_COMMAND, params)

    rules = {one["code"]: one for one in told("devicelint.rules")}
    assert rules["DEV103"]["name"] == "created-on-cpu"
    assert not rules["DEV604"]["default"]
    page = told("devicelint.rulePage", "DEV103")
    assert page.startswith("# created-on-cpu (DEV103)\n")
    assert "```python\n" in page
    assert "# raises" not in page
    assert told("devicelint.rulePage", "created-on-cpu") == page
    assert told("devicelint.rulePage", "DEV999") is None


def test_a_command_says_whether_it_changes_the_file(editor, path):
    uri = editor.open(path, CLASH)
    params = lsp.ExecuteCommandParams("devicelint.fixAll", arguments=[uri])
    assert editor.ask(lsp.WORKSPACE_EXECUTE_COMMAND, params) is True
    editor.type(uri, 2, FIXED)
    assert editor.ask(lsp.WORKSPACE_EXECUTE_COMMAND, params) is False

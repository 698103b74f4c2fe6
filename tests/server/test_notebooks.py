"""Notebooks in an editor: cell by cell, one program."""

from __future__ import annotations

from lsprotocol import types as lsp

from tests.server.editor import at, edited

CELLS = [
    "# A page about nothing",
    "import torch\nassert torch.cuda.is_available()\nmodel = torch.nn.Linear(3, 1).to('cuda')",
    "%matplotlib inline\nx = torch.zeros(4, 3)",
    "print(model(x))",
]
TEXT, CODE = lsp.NotebookCellKind.Markup, lsp.NotebookCellKind.Code
WITH_KINDS = [(TEXT, "markdown"), (CODE, "python"), (CODE, "python"), (CODE, "python")]


def opened(editor, path) -> list[str]:
    notebook = path.with_suffix(".ipynb").as_uri()
    uris = [f"vscode-notebook-cell:{notebook.removeprefix('file:')}#W{n}" for n in range(4)]
    cells = [lsp.NotebookCell(kind, uri) for uri, (kind, _) in zip(uris, WITH_KINDS, strict=True)]
    texts = [
        lsp.TextDocumentItem(uri, language, 1, text)
        for uri, text, (_, language) in zip(uris, CELLS, WITH_KINDS, strict=True)
        if language == "python"
    ]
    document = lsp.NotebookDocument(notebook, "jupyter-notebook", 1, cells)
    editor.tell(lsp.NOTEBOOK_DOCUMENT_DID_OPEN, lsp.DidOpenNotebookDocumentParams(document, texts))
    return [notebook, *uris[1:]]


def change(editor, notebook, version, **changes) -> None:
    document = lsp.VersionedNotebookDocumentIdentifier(version, notebook)
    event = lsp.NotebookDocumentChangeEvent(cells=lsp.NotebookDocumentCellChanges(**changes))
    editor.tell(
        lsp.NOTEBOOK_DOCUMENT_DID_CHANGE, lsp.DidChangeNotebookDocumentParams(document, event)
    )


def typed(uri, version, place, text) -> lsp.NotebookDocumentCellContentChanges:
    document = lsp.VersionedTextDocumentIdentifier(version, uri)
    return lsp.NotebookDocumentCellContentChanges(
        document, [lsp.TextDocumentContentChangePartial(place, text)]
    )


def test_findings_stand_in_their_cells(editor, path):
    _, first, second, third = opened(editor, path)
    (found,) = editor.found(second)
    assert (found.code, found.range) == ("DEV103", at(1, 4, 21))
    assert "since line 3 of cell 2" in found.message
    places = [(one.location.uri, one.location.range) for one in found.related_information]
    assert places == [(first, at(2, 30, 32)), (third, at(0, 6, 14))]
    assert editor.found(first) == editor.found(third) == []


def test_the_code_of_a_notebook_may_come_as_one_text(editor, path):
    uri = editor.open(path.with_suffix(".ipynb"), "\n".join(CELLS[1:]).replace("%", "# "))
    assert [one.code for one in editor.found(uri)] == ["DEV103"]


def test_a_fix_changes_a_cell_and_keeps_its_magics(editor, path):
    _, _, second, _ = opened(editor, path)
    editor.found(second)
    action, ignore, _ = editor.actions(second, at(1, 6))
    fixed_text = CELLS[2].replace("4, 3)", "4, 3, device='cuda')")
    assert edited(action.edit, second, CELLS[2]) == fixed_text
    suppressed = CELLS[2] + "  # devicelint: ignore[DEV103]"
    assert edited(ignore.edit, second, CELLS[2]) == suppressed
    for kind in ("source.fixAll", "notebook.source.fixAll.devicelint"):
        (every,) = editor.actions(second, at(0, 0), only=[kind])
        assert every.kind is not None
        assert every.kind.endswith(kind if kind.startswith("notebook") else f"{kind}.devicelint")
        assert edited(every.edit, second, CELLS[2]) == fixed_text


def test_a_cell_is_checked_as_it_is_typed(editor, path):
    notebook, _, second, third = opened(editor, path)
    assert len(editor.found(second)) == 1
    change(editor, notebook, 2, text_content=[typed(second, 2, at(1, 21), ".cuda()")])
    assert editor.found(second, 2) == []
    change(editor, notebook, 3, text_content=[typed(third, 2, at(0, 12, 13), "x.cpu()")])
    assert [one.code for one in editor.found(third, 2)] == ["DEV101"]


def test_cells_come_and_go(editor, path):
    notebook, first, second, third = opened(editor, path)
    assert len(editor.found(second)) == 1
    new = second.replace("#W2", "#W9")
    change(
        editor,
        notebook,
        2,
        structure=lsp.NotebookDocumentCellChangeStructure(
            lsp.NotebookCellArrayChange(2, 1, [lsp.NotebookCell(lsp.NotebookCellKind.Code, new)]),
            did_open=[lsp.TextDocumentItem(new, "python", 1, "x = torch.ones(2, 3)")],
            did_close=[lsp.TextDocumentIdentifier(second)],
        ),
    )
    (found,) = editor.found(new)
    assert found.range == at(0, 4, 20)
    assert editor.found(second, None) == []
    document = lsp.NotebookDocumentIdentifier(notebook)
    closed = lsp.DidCloseNotebookDocumentParams(document, [])
    editor.tell(lsp.NOTEBOOK_DOCUMENT_DID_CLOSE, closed)
    assert editor.found(new, None) == []
    assert editor.found(third, None) == []
    assert editor.found(first, None) == []


def test_devices_are_shown_beside_the_code_of_cells(editor, path):
    _, first, second, third = opened(editor, path)
    place = lsp.Range(lsp.Position(0, 0), lsp.Position(99, 0))

    def hints(uri: str) -> list[tuple[int, int, str]]:
        params = lsp.InlayHintParams(lsp.TextDocumentIdentifier(uri), place)
        found = editor.ask(lsp.TEXT_DOCUMENT_INLAY_HINT, params)
        return [(one.position.line, one.position.character, one.label) for one in found]

    assert hints(first) == [(2, 5, ": cuda")]
    assert hints(second) == [(1, 1, ": cpu")]
    assert hints(third) == []
    asked = lsp.HoverParams(lsp.TextDocumentIdentifier(third), lsp.Position(0, 12))
    shown = editor.ask(lsp.TEXT_DOCUMENT_HOVER, asked)
    assert shown.contents.value == (
        f"**cpu** — with an accelerator\n- [line 2 of cell 3]({second}): created on cpu here"
    )


def test_a_cell_that_is_no_python_is_told_of_and_the_others_are_checked(editor, path):
    notebook, _, second, third = opened(editor, path)
    assert len(editor.found(second)) == 1
    change(editor, notebook, 2, text_content=[typed(third, 2, at(0, 14), ")")])
    (problem,) = editor.found(third, 2)
    assert (problem.range.start.line, problem.message) == (
        0,
        "cell is not checked: syntax error: unmatched ')'",
    )
